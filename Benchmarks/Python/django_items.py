"""The record cases by Django's object mapper: an unmanaged model of the same table."""

import django
from django.conf import settings
from django.db import connection, models, transaction

settings.configure(
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": "",
            "OPTIONS": {"init_command": "PRAGMA synchronous = NORMAL"},
        }
    },
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    DEBUG=False,
)
django.setup()


class Item(models.Model):
    key = models.BigIntegerField(primary_key=True, db_column="Z_PK")
    entity = models.IntegerField(db_column="Z_ENT")
    version = models.IntegerField(db_column="Z_OPT")
    number = models.BigIntegerField(db_column="ZNUMBER")
    section = models.IntegerField(db_column="ZSECTION")
    quantity = models.IntegerField(db_column="ZQUANTITY")
    priority = models.SmallIntegerField(db_column="ZPRIORITY")
    price = models.FloatField(db_column="ZPRICE")
    weight = models.FloatField(db_column="ZWEIGHT")
    code = models.TextField(db_column="ZCODE")
    title = models.TextField(db_column="ZTITLE")
    note = models.TextField(db_column="ZNOTE")
    done = models.BooleanField(db_column="ZDONE")

    class Meta:
        app_label = "items"
        managed = False
        db_table = "ZITEM"


class open:
    def __init__(self, path):
        connection.settings_dict["NAME"] = path
        connection.ensure_connection()
        Item.objects.count()

    def insert(self, samples):
        items = []
        for place, row in enumerate(samples):
            number, section, quantity, priority, price, weight, code, title, note, done = row
            items.append(
                Item(
                    key=place + 1, entity=1, version=1, number=number, section=section, quantity=quantity,
                    priority=priority, price=price, weight=weight, code=code, title=title, note=note, done=done,
                )
            )
        with transaction.atomic():
            Item.objects.bulk_create(items)
            with connection.cursor() as cursor:
                cursor.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = %s WHERE Z_ENT = 1", [len(items)])

    def read(self):
        return list(Item.objects.all())

    def look_up(self, number):
        return Item.objects.get(number=number)

    def update(self):
        with transaction.atomic():
            for item in list(Item.objects.all()):
                item.quantity += 1
                item.version += 1
                item.save(update_fields=["quantity", "version"])

    def walk(self, batch):
        return Item.objects.all().iterator(chunk_size=batch)

    def close(self):
        connection.close()
