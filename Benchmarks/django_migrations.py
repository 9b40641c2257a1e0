#!/usr/bin/env python3
"""Django's migrations of the table that `clarus-bench migrate` migrates: add and rename.

    python3 -m venv .build-django && .build-django/bin/pip install django
    .build-django/bin/python Benchmarks/django_migrations.py [ROWS [ROUNDS]]

Prints the minimum of the rounds, each in a process of its own on a copy of one database. The time is that of
the command `migrate` in a process that has started: opening the database, the graph of migrations, the
statements, and the record that they were run.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time

FIELDS = """
        ("id", models.BigAutoField(primary_key=True)),
        ("number", models.BigIntegerField(null=True)), ("section", models.IntegerField(null=True)),
        ("quantity", models.IntegerField(null=True)), ("priority", models.SmallIntegerField(null=True)),
        ("price", models.FloatField(null=True)), ("weight", models.FloatField(null=True)),
        ("code", models.TextField(null=True)), ("title", models.TextField(null=True)),
        ("note", models.TextField(null=True)), ("done", models.BooleanField(null=True)),
"""

FIRST = f"""from django.db import migrations, models
class Migration(migrations.Migration):
    initial = True
    operations = [migrations.CreateModel(name="Item", fields=[{FIELDS}])]
"""

CHANGES = {
    "add an attribute": 'migrations.AddField("Item", "extra", models.TextField(null=True))',
    "rename an attribute": 'migrations.RenameField("Item", "note", "remark")',
}

NEXT = """from django.db import migrations, models
class Migration(migrations.Migration):
    dependencies = [("shop", "0001_initial")]
    operations = [{}]
"""


def configure(database):
    import django
    from django.conf import settings

    settings.configure(
        INSTALLED_APPS=["shop"],
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": database}},
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    )
    django.setup()


def migrate(target=None):
    from django.core.management import call_command

    call_command("migrate", *(["shop", target] if target else []), verbosity=0)


def one_pass(database):
    """Runs in a process of its own; prints the seconds."""
    configure(database)
    start = time.perf_counter()
    migrate()
    print(time.perf_counter() - start)


def make(folder, rows):
    configure(os.path.join(folder, "template.sqlite"))
    migrate("0001")
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("PRAGMA journal_mode = WAL")
        cursor.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %s) INSERT INTO shop_item "
            "SELECT i, i, i %% 100, i %% 1000, i %% 5, i * 0.25, i * 0.5, 'code ' || i, 'the title of item ' || i, "
            "CASE i %% 10 WHEN 0 THEN NULL ELSE 'a note on item ' || i END, i %% 2 FROM n",
            [rows],
        )
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def main():
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    with tempfile.TemporaryDirectory() as folder:
        os.makedirs(os.path.join(folder, "shop", "migrations"))
        for path in ("shop/__init__.py", "shop/models.py", "shop/migrations/__init__.py"):
            open(os.path.join(folder, path), "w").close()
        with open(os.path.join(folder, "shop", "migrations", "0001_initial.py"), "w") as file:
            file.write(FIRST)
        environment = dict(os.environ, PYTHONPATH=folder)
        program = [sys.executable, os.path.abspath(__file__)]
        subprocess.run(program + ["--make", folder, str(rows)], env=environment, check=True)
        print(f"Django, {rows} rows")
        for title, operation in CHANGES.items():
            with open(os.path.join(folder, "shop", "migrations", "0002_next.py"), "w") as file:
                file.write(NEXT.format(operation))
            times = []
            for _ in range(rounds):
                copy = os.path.join(folder, "copy.sqlite")
                shutil.copyfile(os.path.join(folder, "template.sqlite"), copy)
                output = subprocess.run(
                    program + ["--pass", copy], env=environment, check=True, capture_output=True, text=True
                )
                times.append(float(output.stdout))
            print(f"  {title:32} {min(times) * 1000:10.1f} ms")


if __name__ == "__main__":
    if len(sys.argv) > 2 and sys.argv[1] == "--make":
        make(sys.argv[2], int(sys.argv[3]))
    elif len(sys.argv) > 2 and sys.argv[1] == "--pass":
        one_pass(sys.argv[2])
    else:
        main()
