"""The wheel as its users meet it: what works, what is refused and how, and that nothing crashes."""

import asyncio
import contextlib
import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from datetime import datetime, timedelta, timezone

import godwit
import pytest

NOTES = [
    {
        "version": 1,
        "name": "notes",
        "steps": [
            {
                "step": "createTable",
                "table": "note",
                "definitions": [
                    {"name": "id", "type": "text"},
                    {"name": "title", "type": "text", "optional": True},
                    {"name": "stars", "type": "real", "optional": True},
                    {"name": "count", "type": "integer", "optional": True},
                    {"name": "image", "type": "blob", "optional": True},
                ],
            }
        ],
    }
]


@pytest.fixture
def replica(tmp_path):
    with godwit.open(tmp_path / "notes", migrations=NOTES) as replica:
        yield replica


def read_link(descriptor):
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        return ""


def insert(replica, *keys):
    with replica.write() as transaction:
        transaction.executemany("INSERT INTO note (id, count) VALUES (?, ?)", [(key, 1) for key in keys])


def test_rows_are_read_as_they_were_written(replica):
    values = ("n1", "Grüße\0zwei", 4.5, -(1 << 63), b"\0\1\0")
    with replica.write() as transaction:
        assert transaction.execute("INSERT INTO note VALUES (?, ?, ?, ?, ?)", values) == 1
        assert transaction.execute("INSERT INTO note VALUES (?, ?, ?, ?, ?)", ("n2", "", None, True, b"")) == 1
    first, second = replica.query("SELECT * FROM note ORDER BY id")
    assert tuple(first) == values
    assert tuple(second) == ("n2", "", None, 1, b"")
    assert first["TITLE"] == first[1] and first.keys() == ["id", "title", "stars", "count", "image"]
    assert first[1:3] == ("Grüße\0zwei", 4.5) and len(first) == 5
    with pytest.raises(IndexError):
        first["nothing"]


def test_rows_are_read_one_after_another(replica):
    insert(replica, *[f"{number:03}" for number in range(250)])
    with replica.read() as transaction:
        rows = transaction.query("SELECT id FROM note ORDER BY id")
        assert rows.columns == ("id",)
        assert rows.fetchone()["id"] == "000"
        assert [row[0] for row in rows.fetchmany(2)] == ["001", "002"]
        assert next(rows)[0] == "003"
        assert len(rows.fetchall()) == 246 and rows.fetchone() is None and rows.fetchall() == []
        left = transaction.query("SELECT id FROM note")
    with pytest.raises(godwit.MisuseError):
        left.fetchone()


def test_a_transaction_is_whole_or_nothing(replica):
    with pytest.raises(ZeroDivisionError):
        with replica.write() as transaction:
            transaction.execute("INSERT INTO note (id) VALUES ('a')")
            1 / 0
    assert replica.query("SELECT * FROM note") == []
    with replica.write() as transaction:
        transaction.execute("INSERT INTO note (id) VALUES ('a')")
        with pytest.raises(godwit.ConstraintError) as raised:
            transaction.execute("INSERT INTO note (id) VALUES ('a')")
        assert raised.value.name == "constraint" and raised.value.code == 36
        transaction.execute("INSERT INTO note (id) VALUES ('b')")
    assert [row["id"] for row in replica.query("SELECT id FROM note ORDER BY id")] == ["a", "b"]


def test_many_rows_are_written_in_batches(replica):
    with replica.write() as transaction:
        rows = ((f"{number:04}", number) for number in range(1201))
        assert transaction.executemany("INSERT INTO note (id, count) VALUES (?, ?)", rows) == 1201
        assert transaction.executemany("DELETE FROM note WHERE id = ?", []) == 0
        assert transaction.executemany("DELETE FROM note WHERE id = ?", [("0000",), ("none",), ("0001",)]) == 2
        with pytest.raises(godwit.ConstraintError):
            transaction.executemany("INSERT INTO note (id) VALUES (?)", [("new",), ("0002",)])
        with pytest.raises(godwit.SQLError):
            transaction.executemany("INSERT INTO note (id) VALUES (?)", [("x",), ("y", 1)])
    assert replica.query("SELECT count(*) FROM note WHERE id NOT IN ('x')")[0][0] == 1199


def test_a_list_that_is_used_again_is_another_row(replica):
    def rows():
        row = ["", 0]
        for number in range(3):
            row[:] = [f"k{number}", number]
            yield row

    with replica.write() as transaction:
        assert transaction.executemany("INSERT INTO note (id, count) VALUES (?, ?)", rows()) == 3
        assert transaction.executemany("UPDATE note SET count = count + 1", [(), ()]) == 6
    assert [tuple(row) for row in replica.query("SELECT id, count FROM note")] == [("k0", 2), ("k1", 3), ("k2", 4)]


def test_an_error_goes_to_another_process(replica):
    with pytest.raises(godwit.SQLError) as raised:
        replica.query("SELECT nonsense")
    error = pickle.loads(pickle.dumps(raised.value))
    assert type(error) is godwit.SQLError and str(error) == str(raised.value) and error.name == "sql"


def test_errors_have_a_kind_a_message_and_a_hint(replica, tmp_path):
    with pytest.raises(godwit.NotFoundError) as raised:
        godwit.open(tmp_path / "nothing", must_exist=True)
    assert raised.value.name == "noReplica" and raised.value.hint
    with pytest.raises(godwit.SQLError):
        replica.query("SELECT nonsense")
    with pytest.raises(godwit.SQLError) as raised:
        replica.query("DELETE FROM note")
    assert raised.value.name == "notAuthorized"
    with pytest.raises(godwit.SchemaError):
        godwit.open(tmp_path / "bad", migrations="{}")
    with pytest.raises(godwit.DamageError):
        (tmp_path / "file").write_bytes(b"nothing of ours")
        replica.import_(tmp_path / "file")


@pytest.mark.parametrize("values", ["ab", b"ab", {"a": 1}, 7, None, {1, 2}])
def test_values_have_an_order(replica, values):
    with replica.read() as transaction, pytest.raises(TypeError):
        transaction.query("SELECT ?, ?", values)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT :b, @a, $a, :b, :a",
        "SELECT ':a', :b, \":a\", 'it''s :a' -- :a\n, :a",
        "SELECT /* :x */ :a AS [:x], :b AS `:x`, :a AS \"\"\":x\"",
        "SELECT a$b, :a FROM (SELECT :b AS a$b)",
        "SELECT :größe, :_1 /* no end :x",
        "SELECT :a$b(c), :b, :a::b, $a(b), @::a",
    ],
)
def test_values_are_bound_by_name(replica, sql):
    import sqlite3

    values = {"a": 1, "b": "two", "größe": 3.5, "_1": b"4", "a$b(c)": 5, "a::b": 6, "a(b)": 7, "::a": 8, "more": None}
    expected = sqlite3.connect(":memory:").execute(sql, values).fetchall()
    assert [tuple(row) for row in replica.query(sql, values)] == expected


def test_names_without_values_are_refused(replica):
    with pytest.raises(TypeError, match="parameter b"):
        replica.query("SELECT :a, :b", {"a": 1})
    with pytest.raises(TypeError, match="either"):
        replica.query("SELECT :a, ?", {"a": 1})
    with replica.write() as transaction:
        rows = ({"id": str(number), "count": number} for number in range(1_200))
        assert transaction.executemany("INSERT INTO note (id, count) VALUES (:id, :count)", rows) == 1_200
        with pytest.raises(TypeError):
            transaction.executemany("INSERT INTO note (id, count) VALUES (:id, :count)", [{"id": "x"}])
    assert replica.query("SELECT sum(count) FROM note")[0][0] == 719_400


@pytest.mark.parametrize("value, error", [(object(), TypeError), (1 << 63, OverflowError), ([1], TypeError)])
def test_a_value_that_cannot_be_bound_is_refused(replica, value, error):
    with replica.write() as transaction, pytest.raises(error):
        transaction.execute("INSERT INTO note (id, count) VALUES ('a', ?)", (value,))
    with pytest.raises(godwit.Error):
        replica.execute("INSERT INTO note (id, stars) VALUES ('a', ?)", (float("nan"),))
    with pytest.raises(ValueError):
        replica.query("SELECT 1\0")
    with pytest.raises(UnicodeEncodeError):
        replica.query("SELECT ?", ("\ud800",))


def test_documents_are_dictionaries(replica):
    people = replica.collection("people")
    people["ada"] = {"name": "Ada", "age": 36, "tags": ["a", "ß"], "deep": {"x": None}}
    people["bob"] = {"name": "Bob", "age": 20}
    people.merge("ada", {"age": 37})
    assert people["ada"] == {"name": "Ada", "age": 37, "tags": ["a", "ß"], "deep": {"x": None}}
    assert sorted(people) == ["ada", "bob"] and len(people) == 2 and "eve" not in people
    assert people.get("eve") is None
    assert [key for key, _ in people.find("age > 10", order="age", limit=1)] == ["bob"]
    with replica.write() as transaction:
        here = transaction.collection("people")
        here.update({"eve": {"name": "Eve"}})
        del here["bob"]
        assert sorted(here) == ["ada", "eve"]
    with pytest.raises(KeyError):
        people["bob"]
    with pytest.raises(KeyError):
        del people["bob"]
    with pytest.raises(TypeError):
        people["x"] = ["no", "dict"]
    with pytest.raises(ValueError):
        people["x"] = {"a": float("nan")}
    with pytest.raises(godwit.Error) as raised:
        people.find("age >")
    assert raised.value.name == "invalidArgument"


def test_a_collection_is_a_mapping(replica):
    people = replica.collection("people")
    people.update({"ada": {"n": 1}, "bob": {"n": 2}})
    assert dict(people.items()) == {"ada": {"n": 1}, "bob": {"n": 2}}
    assert sorted(person["n"] for person in people.values()) == [1, 2]
    assert people.pop("ada") == {"n": 1} and people.pop("ada", None) is None
    assert people.setdefault("eve", {"n": 3}) == {"n": 3} and people.setdefault("eve", {}) == {"n": 3}
    people.clear()
    assert dict(people) == {}
    people.put("old", {}, expires=datetime.fromtimestamp(0, timezone.utc))
    assert "old" not in people
    for call in (lambda: people.find(limit=-1), lambda: replica.restore_conflict(1 << 64)):
        with pytest.raises(ValueError):
            call()


def test_a_document_expires(replica):
    people = replica.collection("people")
    people.put("old", {"a": 1}, expires=datetime.now(timezone.utc) - timedelta(seconds=1))
    people.put("new", {"a": 1}, expires=datetime.now(timezone.utc) + timedelta(hours=1))
    assert list(people) == ["new"]
    with pytest.raises(ValueError):
        people.put("x", {}, expires=datetime.now())


def test_clearing_passes_over_what_has_expired_since(replica, monkeypatch):
    people = replica.collection("people")
    people.put("brief", {}, expires=datetime.now(timezone.utc) + timedelta(milliseconds=200))
    people.put("other", {})
    with replica.write() as transaction:
        collection = transaction.collection("people")
        listed = ["brief", "other"]
        monkeypatch.setattr(type(collection), "__iter__", lambda _: iter(listed))
        while "brief" in collection:
            pass
        collection.clear()
        assert "other" not in collection


def test_a_cache_is_a_mapping_of_bytes(replica):
    cache = replica.cache("thumbs", max_bytes=1 << 20)
    cache["a"] = b"\0\1"
    cache["empty"] = b""
    assert cache["a"] == b"\0\1" and cache["empty"] == b"" and "a" in cache and "b" not in cache
    assert cache.get("b") is None and cache.get("b", b"x") == b"x"
    cache.set("brief", b"1", lifetime=timedelta(milliseconds=1))
    while "brief" in cache:
        pass
    del cache["a"]
    with pytest.raises(KeyError):
        cache["a"]
    with pytest.raises(TypeError):
        cache["a"] = "text"
    assert cache.pop("a", None) is None and cache.pop("empty") == b"" and "empty" not in cache
    with pytest.raises(KeyError):
        cache.pop("a")
    with pytest.raises(TypeError, match="not iterable"):
        list(cache)
    cache["b"] = b"1"
    cache.clear()
    assert "b" not in cache


def test_exchange(replica, tmp_path):
    insert(replica, "a")
    assert replica.status()["tables"] == [{"table": "note", "rows": 1}]
    assert replica.export(tmp_path / "all.godwit-sync", all=True)["transactions"] >= 1
    assert replica.import_(tmp_path / "all.godwit-sync")["applied"] == 0
    (tmp_path / "remote").mkdir()
    replica.add_remote("home", str(tmp_path / "remote"))
    (report,) = replica.sync()
    assert report["remote"] == "home" and report["error"] is None and report["published"] >= 1
    assert [remote["name"] for remote in replica.remotes()] == ["home"]
    (tmp_path / "remote").rename(tmp_path / "moved")
    (tmp_path / "remote").write_text("no folder")
    with pytest.raises(godwit.Error) as raised:
        replica.sync("home")
    assert raised.value.reports[0]["error"]["code"] == raised.value.name
    replica.remove_remote("home")
    assert replica.conflicts() == []
    with pytest.raises(godwit.NotFoundError):
        replica.restore_conflict(3)


def test_changes_are_noticed(replica):
    async def run():
        seen = 0
        async for _ in replica.changes("note"):
            seen += 1
            if seen == 3:
                return
            await asyncio.get_running_loop().run_in_executor(None, insert, replica, f"key {seen}")

    asyncio.run(asyncio.wait_for(run(), 20))


def test_changes_cost_nothing_while_nobody_asks_and_end_with_the_replica(tmp_path):
    replica = godwit.open(tmp_path / "notes", migrations=NOTES)

    async def run():
        changes = replica.changes()
        await changes.__anext__()
        insert(replica, "a")
        await changes.__anext__()
        insert(replica, "b")
        start = time.process_time()
        await asyncio.sleep(0.5)
        assert time.process_time() - start < 0.3
        await changes.__anext__()
        replica.close()
        with pytest.raises(StopAsyncIteration):
            while True:
                await changes.__anext__()

    before = len(os.listdir("/proc/self/fd"))
    asyncio.run(asyncio.wait_for(run(), 20))
    assert len(os.listdir("/proc/self/fd")) <= before


def test_changes_end_when_another_thread_closes_the_replica(tmp_path):
    async def watch():
        replica = godwit.open(tmp_path / "notes", migrations=NOTES)
        begun = asyncio.Event()

        async def count():
            # The body uses the replica, also while that is being closed.
            async for _ in replica.changes("note"):
                with contextlib.suppress(godwit.MisuseError):
                    replica.query("SELECT count(*) FROM note")
                begun.set()

        counting = asyncio.create_task(count())
        await begun.wait()
        await asyncio.to_thread(replica.close)
        await asyncio.wait_for(counting, 20)

    asyncio.run(watch())


def test_a_replica_in_a_cycle_with_its_transaction_is_closed(tmp_path):
    class App:
        def __init__(self):
            self.replica = godwit.open(tmp_path / "notes", migrations=NOTES)
            self.rows = self.find()
            next(self.rows)

        def find(self):
            with self.replica.read() as transaction:
                yield from transaction.query("SELECT 1 UNION SELECT 2")

    def open_files():
        return {read_link(descriptor) for descriptor in os.listdir("/proc/self/fd")}

    database = str(tmp_path / "notes" / "database")
    app = App()
    assert database in open_files()
    del app
    gc.collect()
    assert database not in open_files()


def test_a_thread_does_not_wait_for_its_own_readers(tmp_path):
    with godwit.open(tmp_path / "notes", migrations=NOTES, timeout=60) as replica, contextlib.ExitStack() as stack:
        for _ in range(4):
            stack.enter_context(replica.read())
        start = time.monotonic()
        with pytest.raises(godwit.BusyError, match="this thread has 4 transactions"):
            replica.query("SELECT 1")
        assert time.monotonic() - start < 30


def test_none_is_no_text(replica, tmp_path):
    people = replica.collection("people")
    for use in (lambda: people[None], lambda: None in people, lambda: replica.execute(None)):
        with pytest.raises(TypeError, match="must be a str"):
            use()
    godwit.open(tmp_path / "forever", timeout=float("inf")).close()


def test_a_transaction_is_its_threads(replica):
    failures = []

    def use(transaction):
        for work in (lambda: transaction.execute("DELETE FROM note"), lambda: transaction.query("SELECT 1")):
            try:
                work()
            except godwit.MisuseError as error:
                failures.append(error)

    with replica.write() as transaction:
        thread = threading.Thread(target=use, args=(transaction,))
        thread.start()
        thread.join()
        with pytest.raises(godwit.BusyError):
            with replica.write():
                pass
        with pytest.raises(godwit.BusyError):
            replica.close()
    assert len(failures) == 2
    with pytest.raises(godwit.MisuseError):
        transaction.execute("DELETE FROM note")


def test_a_transaction_that_ends_in_another_thread_is_rolled_back(replica):
    begun = replica.write()
    begun.__enter__()
    begun.execute("INSERT INTO note (id) VALUES ('lost')")
    thread = threading.Thread(target=lambda: pytest.raises(godwit.MisuseError, begun.__exit__, None, None, None))
    thread.start()
    thread.join()
    assert not begun.is_open
    with pytest.raises(godwit.MisuseError):
        begun.execute("DELETE FROM note")
    # One that nobody has any more, with a row of it read.
    lost = [replica.write().__enter__()]
    rows = [lost[0].query("SELECT 1 UNION SELECT 2")]
    rows[0].fetchone()
    thread = threading.Thread(target=lambda: (rows.clear(), lost.clear(), gc.collect()))
    thread.start()
    thread.join()
    insert(replica, "kept")
    assert [row["id"] for row in replica.query("SELECT id FROM note")] == ["kept"]


def test_a_transaction_with_rows_that_ends_in_another_thread_is_rolled_back(replica):
    insert(replica, "a", "b")
    begun = replica.write().__enter__()
    rows = begun.query("SELECT id FROM note")
    rows.fetchone()
    thread = threading.Thread(target=lambda: pytest.raises(godwit.MisuseError, begun.__exit__, None, None, None))
    thread.start()
    thread.join()
    assert not begun.is_open
    with pytest.raises(godwit.MisuseError):
        rows.fetchone()
    insert(replica, "c")


def test_a_transaction_goes_with_its_rows_in_whatever_order(replica):
    class Holder:
        pass

    def lose():
        holder = Holder()
        holder.itself = holder
        holder.transaction = replica.write().__enter__()
        holder.transaction.holder = holder
        holder.rows = holder.transaction.query("SELECT 1 UNION SELECT 2")
        holder.rows.fetchone()

    gc.disable()
    try:
        thread = threading.Thread(target=lose)
        thread.start()
        thread.join()
        gc.collect()
    finally:
        gc.enable()
    insert(replica, "kept")


def test_ctrl_c_while_a_transaction_waits_loses_none(replica):
    def hold():
        with replica.write():
            held.set()
            time.sleep(0.5)

    held = threading.Event()
    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    earlier = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        with pytest.raises(KeyboardInterrupt) as interrupt:
            with replica.write():
                pass
    finally:
        signal.signal(signal.SIGALRM, earlier)
    thread.join()
    insert(replica, "after")
    # Until here the exception has held what was on the stack.
    assert interrupt is not None


def test_what_fails_meanwhile_is_not_taken_for_a_call_s_own_failure(replica):
    # As where a handler of a signal, or a finalizer, comes between a call and the look at why it failed.
    with contextlib.suppress(godwit.Error):
        replica.restore_conflict(999)
    error = godwit._library._latest_failure(36)
    assert isinstance(error, godwit.ConstraintError) and error.code == 36 and "another one" in error.message


@pytest.mark.parametrize("count", range(8))
def test_a_collection_of_garbage_changes_no_error(replica, count):
    class Holder:
        def __del__(self):
            with contextlib.suppress(godwit.Error):
                replica.restore_conflict(999)

    failure = None
    with pytest.raises(godwit.Error) as known:
        replica.remove_remote("nobody")
    not_found = known.value
    gc.collect()
    gc.disable()
    thresholds = gc.get_threshold()
    try:
        holder = Holder()
        holder.itself = holder
        del holder
        gc.set_threshold(gc.get_count()[0] + count, 1000, 1000)
        gc.enable()
        replica.remove_remote("nobody")
    except godwit.Error as error:
        failure = error
    finally:
        gc.set_threshold(*thresholds)
        gc.enable()
    assert failure is not None and failure.code == not_found.code
    assert "nobody" in failure.message or "another one" in failure.message


def test_what_waits_for_another_thread_is_broken_off(tmp_path):
    with godwit.open(tmp_path / "notes", migrations=NOTES, timeout=60) as replica:
        failures = []

        def wait(work):
            try:
                work()
            except godwit.Error as error:
                failures.append(error.name)

        with pytest.raises(godwit.Error), replica.write():
            threads = [
                threading.Thread(target=wait, args=(work,))
                for work in (lambda: replica.execute("DELETE FROM note"), replica.status)
            ]
            for thread in threads:
                thread.start()
            time.sleep(0.3)
            replica.interrupt()
            for thread in threads:
                thread.join(20)
        assert failures == ["cancelled", "cancelled"]


def test_what_another_thread_does_is_broken_off(replica):
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    timer = threading.Timer(0.2, replica.interrupt)
    timer.start()
    with pytest.raises(godwit.Error) as failure:
        replica.query(endless)
    assert failure.value.name == "cancelled"
    timer.join()
    insert(replica, "after")


def test_a_query_shows_a_member_that_came_after_it_was_compiled(replica):
    recipes = replica.collection("recipe")
    recipes["tea"] = {"minutes": 4}
    everything = "SELECT * FROM documents_recipe"
    assert "grams" not in replica.query(everything)[0].keys()
    recipes["tea"] = {"minutes": 4, "grams": 12}
    (row,) = replica.query(everything)
    assert (row["minutes"], row["grams"]) == (4, 12)
    assert replica.query(everything + " WHERE minutes = 9") == []


def test_a_statement_that_only_finds_rows_is_a_query(replica):
    with pytest.raises(godwit.Error) as failure:
        replica.execute("SELECT * FROM note")
    assert failure.value.name == "invalidArgument"
    with replica.write() as transaction, pytest.raises(godwit.Error):
        transaction.executemany("SELECT ?", [(1,), (2,)])


def test_rows_can_be_bound(replica):
    insert(replica, "a", "b")
    with replica.write() as transaction:
        transaction.executemany("UPDATE note SET count = ? + 1 WHERE id = ?", replica.query("SELECT count, id FROM note"))
    assert [row[0] for row in replica.query("SELECT count FROM note")] == [2, 2]


def test_a_text_that_is_not_utf8_is_an_error(replica):
    with pytest.raises(godwit.SQLError):
        replica.query("SELECT CAST(x'ff' AS TEXT)")


def test_what_the_program_has_made_is_found(tmp_path, monkeypatch):
    with godwit.open(tmp_path / "work" / ".godwit") as replica:
        replica.collection("people")["ada"] = {"age": 36}
    os.makedirs(tmp_path / "config" / "godwit", mode=0o700)
    os.rename(tmp_path / "work" / ".godwit" / "machine.key", tmp_path / "config" / "godwit" / "machine.key")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    with godwit.open(tmp_path / "work") as replica:
        assert replica.collection("people")["ada"]["age"] == 36
    assert sorted(os.listdir(tmp_path / "work")) == [".godwit"]


def test_threads_write_beside_each_other(replica):
    threads = [threading.Thread(target=insert, args=(replica, *[f"{n}-{i}" for i in range(20)])) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert replica.query("SELECT count(*) FROM note")[0][0] == 120


def test_a_closed_replica_is_refused(tmp_path):
    replica = godwit.open(tmp_path / "notes")
    cache = replica.cache("thumbs")
    replica.close()
    replica.close()
    for work in (replica.status, replica.remotes, lambda: replica.query("SELECT 1"), lambda: cache.get("a")):
        with pytest.raises(godwit.MisuseError):
            work()


PRELUDE = "import godwit, os, sys, threading\nreplica = godwit.open(sys.argv[1])\n"


@pytest.mark.parametrize(
    "program",
    [
        "",
        "transaction = replica.write().__enter__()\ntransaction.collection('c')['a'] = {}\n",
        "rows = replica.read().__enter__().query('SELECT 1')\n",
        "thread = threading.Thread(target=lambda: [replica.collection('c').update({str(n): {}}) for n in range(300)],"
        " daemon=True)\nthread.start()\n",
        "raise SystemExit(0)\n",
        "def stuck():\n  replica.write().__enter__()\nthread = threading.Thread(target=stuck)\nthread.start()\n"
        "thread.join()\n",
    ],
)
def test_the_interpreter_exits_with_an_open_replica(tmp_path, program):
    done = subprocess.run(
        [sys.executable, "-c", PRELUDE + program, str(tmp_path / "notes")], capture_output=True, timeout=60
    )
    assert done.returncode == 0 and not done.stderr, done.stderr.decode()
    with godwit.open(tmp_path / "notes") as replica:
        assert "a" not in replica.collection("c")


def test_a_fork_after_opening_is_refused(tmp_path):
    program = PRELUDE + (
        "child = os.fork()\n"
        "if child == 0:\n"
        "  try:\n"
        "    replica.status()\n"
        "  except godwit.ForkedError:\n"
        "    sys.exit(5)\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 5\n"
        "replica.status()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "notes")], capture_output=True, timeout=60
    )
    assert done.returncode == 0, done.stderr.decode()


def test_what_nobody_has_any_more_goes(tmp_path):
    for number in range(5):
        replica = godwit.open(tmp_path / f"notes {number}")
        with replica.read() as transaction:
            rows = transaction.query("SELECT 1")
            assert transaction.query("SELECT 2").fetchone()[0] == 2
        rows.close()
        replica.cache("thumbs")["a"] = b"1"
        del replica, transaction, rows
        gc.collect()
    assert not [path for path in os.listdir("/proc/self/fd") if "notes" in read_link(path)]
    assert len(os.listdir("/proc/self/task")) < 40


def test_nothing_is_plaintext(replica, tmp_path):
    replica.collection("people")["ada"] = {"name": "unmistakable words"}
    replica.cache("thumbs")["a"] = b"unmistakable words"
    replica.export(tmp_path / "all.godwit-sync")
    replica.close()
    for folder, _, files in os.walk(tmp_path):
        for file in files:
            with open(os.path.join(folder, file), "rb") as stream:
                assert b"unmistakable" not in stream.read()


def test_the_readme_runs(tmp_path):
    with open(os.path.join(os.path.dirname(__file__), "../../Bindings/Python/README.md")) as stream:
        blocks = stream.read().split("```python\n")[1:]
    assert len(blocks) >= 5
    for block in blocks:
        done = subprocess.run(
            [sys.executable, "-c", block.split("```")[0]], cwd=tmp_path, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout
