"""The record cases by SQLAlchemy 2: its declarative mapping, a session for each case."""

from sqlalchemy import Boolean, Float, Integer, String, create_engine, event, select, text
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column


class Base(DeclarativeBase):
    pass


class Item(Base):
    __tablename__ = "ZITEM"

    key: Mapped[int] = mapped_column("Z_PK", Integer, primary_key=True)
    entity: Mapped[int] = mapped_column("Z_ENT", Integer)
    version: Mapped[int] = mapped_column("Z_OPT", Integer)
    number: Mapped[int] = mapped_column("ZNUMBER", Integer)
    section: Mapped[int] = mapped_column("ZSECTION", Integer)
    quantity: Mapped[int] = mapped_column("ZQUANTITY", Integer)
    priority: Mapped[int] = mapped_column("ZPRIORITY", Integer)
    price: Mapped[float] = mapped_column("ZPRICE", Float)
    weight: Mapped[float] = mapped_column("ZWEIGHT", Float)
    code: Mapped[str] = mapped_column("ZCODE", String)
    title: Mapped[str] = mapped_column("ZTITLE", String)
    note: Mapped[str] = mapped_column("ZNOTE", String)
    done: Mapped[bool] = mapped_column("ZDONE", Boolean)


class open:
    def __init__(self, path):
        self.engine = create_engine(f"sqlite:///{path}")

        @event.listens_for(self.engine, "connect")
        def connected(connection, _):
            connection.execute("PRAGMA synchronous = NORMAL")

        self.session = Session(self.engine)
        # The mapping and the statements' first compilation are not part of a case; this object is not kept.
        self.session.execute(text("SELECT COUNT(*) FROM ZITEM")).one()
        self.session.rollback()

    def insert(self, samples):
        for place, row in enumerate(samples):
            number, section, quantity, priority, price, weight, code, title, note, done = row
            self.session.add(
                Item(
                    key=place + 1, entity=1, version=1, number=number, section=section, quantity=quantity,
                    priority=priority, price=price, weight=weight, code=code, title=title, note=note, done=done,
                )
            )
        self.session.flush()
        self.session.execute(text("UPDATE Z_PRIMARYKEY SET Z_MAX = :most WHERE Z_ENT = 1"), {"most": len(samples)})
        self.session.commit()

    def read(self):
        return self.session.scalars(select(Item)).all()

    def look_up(self, number):
        return self.session.scalars(select(Item).where(Item.number == number)).one()

    def update(self):
        for item in self.session.scalars(select(Item)).all():
            item.quantity += 1
            item.version += 1
        self.session.commit()

    def walk(self, batch):
        return self.session.scalars(select(Item).execution_options(yield_per=batch))

    def close(self):
        self.session.close()
        self.engine.dispose()
