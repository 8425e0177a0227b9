#!/usr/bin/env python3
"""How gpusort and other tools sort a table by a number column: every cell of the printed Markdown table
is what one command did on a small file made here. Exits 1 if a cell of gpusort's is not what its
documentation promises.

    python3 behaviours.py --gpusort target/release/gpusort --xan xan --qsv qsvlite --duckdb-python python3

A tool that is not given is left out; GNU sort is always there. --verbose adds commands and outputs.
"""
import argparse, csv, io, os, re, shlex, shutil, subprocess, sys, tempfile

NAMES = {"gpusort": "gpusort", "gnu": "GNU sort", "qsv": "qsv", "xan": "xan", "duckdb": "DuckDB"}
PROGRAM = {"gnu": "sort", "qsv": "qsvlite"}
DUCKDB = """#!/bin/sh
exec {} -c 'import sys, duckdb
try: duckdb.sql(sys.argv[2])
except duckdb.Error as e: sys.exit(str(e))' "$@"
"""


def table(*values, eol="\n"):
    """A table of the columns id (1, 2, ...) and x."""
    return "".join(line + eol for line in ["id,x"] + [f"{i},{v}" for i, v in enumerate(values, 1)])


# The commands. `variants` are (note, command) pairs: the plain way first, then a better one with its note.

def gpusort(args="-k x t.csv"):
    return f"gpusort sort -q {args}"


def gnu(key="-k2,2g", more="", after=""):
    return f"(head -n 1 t.csv; tail -n +2 t.csv | sort -s -t, {key}{more}{after})"


def duckdb(select="SELECT * FROM read_csv('t.csv') ORDER BY x", how="HEADER"):
    return f"duckdb -c \"COPY ({select}) TO '/dev/stdout' ({how})\""


def typed(kind):
    return (f"`types` ({kind})", duckdb(f"SELECT * FROM read_csv('t.csv', types={{'x': '{kind}'}}) ORDER BY x"))


AS_TEXT = ("`all_varchar` and a cast", duckdb("SELECT * FROM read_csv('t.csv', all_varchar=true) ORDER BY x::DOUBLE"))
PLAIN = {"gpusort": gpusort(), "gnu": gnu(), "qsv": "qsvlite sort -N -s x t.csv", "xan": "xan sort -N -s x t.csv",
         "duckdb": duckdb()}
WHOLE = dict(PLAIN, gnu=gnu("-k2,2n"))  # integers: GNU's -n has no limit, -g rounds to a long double


# The judges: what a command did on each of the inputs, in a few words.

class Result:
    def __init__(self, files, done):
        self.files, self.rc = files, done.returncode
        self.out, self.err = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
        self.rows = list(csv.reader(io.StringIO(self.out, newline="")))
        self.ids = [row[0] if row else "" for row in self.rows[1:]]


BIG = {str(2**power + d): f"2^{power}{d:+d}" if d else f"2^{power}" for power in (53, 64) for d in (-2, -1, 0, 1)}


def code(text):
    return f"`{BIG.get(text, text).strip()}`" if text.strip() else "nothing"


def misplaced(result, want):
    """The first two rows that came out in the wrong order, by their x."""
    if result.rc:
        return "error"
    x = {}
    for text in result.files.values():
        x.update((row[0], row[1]) for row in list(csv.reader(io.StringIO(text, newline="")))[1:] if len(row) > 1)
    place = {id: n for n, id in enumerate(want)}
    if sorted(result.ids) != sorted(want):
        return f"no: {len(result.ids)} rows for {len(want)} keys" if len(result.ids) != len(want) else "no: other rows"
    for a, b in zip(result.ids, result.ids[1:]):
        if place[a] > place[b]:
            if x[a] == x[b]:
                return "no: equal keys reordered"
            whole = " ".join(x[id] for id in result.ids)
            return f"no: {code(whole)}" if len(whole) < 30 else f"no: {code(x[a])} before {code(x[b])}"
    return "yes"


def order(*wants, ties=None):
    """The ids in this order, for each input; the header on top. `ties` is what to call a wrong order of equal x."""
    def judge(results):
        for result, want in zip(results, wants):
            want = want.split() if isinstance(want, str) else want
            if not result.rc and result.rows[0][:2] != ["id", "x"]:
                return "no: sorted in"
            said = misplaced(result, want)
            if said != "yes":
                return ties if ties and said == "no: equal keys reordered" else said
        return "yes"
    return judge


def placed(**orders):
    """One of several orders, each with a word for it; any other is compared with the last."""
    def judge(results):
        for word, wants in orders.items():
            if all(not r.rc and r.ids == w.split() for r, w in zip(results, wants)):
                return word.replace("_", " ")
        return misplaced(results[0], wants[0].split())
    return judge


def exact(want, less=None):
    """These bytes. `less` is what to call it when only line ends differ."""
    def judge(results):
        result, = results
        if result.rc or result.out == want:
            return "error" if result.rc else "yes"
        if less and result.out.replace("\r\n", "\n") == want.replace("\r\n", "\n"):
            return less
        got, right = result.out.splitlines(), want.splitlines()
        said = misplaced(result, [row[0] for row in list(csv.reader(io.StringIO(want, newline="")))[1:]])
        if said != "yes":
            return said
        for a, b in zip(got, right):
            for field, other in zip(a.split(","), b.split(",")):
                if field != other:
                    return f"no: {code(other)} became {code(field)}"
        return "no: other bytes"
    return judge


def tokens(want):
    def judge(results):
        got = " ".join(results[0].out.split())
        return "error" if results[0].rc else "yes" if got == want else f"no: {code(got[:40])}"
    return judge


def checked(results):
    good, bad = (r.rc for r in results)
    if max(good, bad) > 1:
        return "error"
    return "no: `2 9 10` is called unsorted" if good else "yes" if bad else "no: `9 10 2` is called sorted"


def ragged(results):
    short, long = [("error" if r.rc else "accepted" if len(r.ids) == 7 else "row lost") for r in results]
    return short if short == long else f"too few fields: {short}; too many: {long}"


def both(*values):
    """The table and the same one upside down."""
    return [{"t.csv": table(*values)}, {"t.csv": table(*reversed(values))}]


MANY = 20000  # enough rows for several threads: a sort that is not stable shows itself
KEYS = [i * 7919 % 5 for i in range(MANY)]
UP = [str(i + 1) for i in sorted(range(MANY), key=lambda i: KEYS[i])]
DOWN = [str(i + 1) for i in sorted(range(MANY), key=lambda i: -KEYS[i])]
FIRST = [str(KEYS.index(k) + 1) for k in range(5)]
NUMBERED = "SELECT *, row_number() OVER () AS n FROM read_csv('t.csv')"
QUOTED = ['id,x,note\n', '"1",3,"plain"\n', '2,"1","say ""hi"""\n', '3,2,\n']
MIXED = ["id,x\r\n", "1,3\r\n", "2,1\n", "3,10\r\n", "4,2\n"]
RAGGED = "id,x,y\n1,5,a\n2,3,b\n3,4{}\n4,1,d\n5,2,e\n6,7,f\n7,6,g\n"
UNIQUE = {"gpusort": gpusort("-k x -u t.csv"), "gnu": gnu("-k2,2g", " -u"), "qsv": "qsvlite sort -N -u -s x t.csv",
          "xan": "xan sort -N -u -s x t.csv",
          "duckdb": [("`row_number()`", duckdb(f"SELECT DISTINCT ON (x) id, x FROM ({NUMBERED}) ORDER BY x, n"))]}

# (behaviour, inputs, judge, what gpusort's cell must be, {tool: command or variants})
ROWS = [
    ("`NaN` goes to one end, numbers are in order: `3 5 2 2.01 NaN 2 0`", [{"t.csv": table(3, 5, 2, 2.01, "NaN", 2, 0)}],
     placed(first=["5 7 3 6 4 1 2"], last=["7 3 6 4 1 2 5"]), "last; first with `--nan first`",
     {**PLAIN, "gpusort": [("", gpusort()), ("`--nan first`", gpusort("-k x --nan first t.csv"))]}),
    ("text among numbers: an error, or where it goes: `3 abc -5 20`", [{"t.csv": table(3, "abc", -5, 20)}],
     placed(first=["2 3 1 4"], last=["3 1 4 2"], as_0=["3 2 1 4"], left_out=["3 1 4"], sorted_as_text=["3 4 1 2"]),
     "error; last with `--invalid last`; left out with `--invalid skip`",
     {**PLAIN, "gnu": [("", gnu()), ("`-n`", gnu("-k2,2n"))], "duckdb": [("", duckdb()), typed("DOUBLE")],
      "gpusort": [("", gpusort())] + [(f"`--invalid {w}`", gpusort(f"-k x --invalid {w} t.csv")) for w in ("last", "skip")]}),
    ("where an empty field goes: `3 (empty) -5 20`", [{"t.csv": table(3, "", -5, 20)}],
     placed(first=["2 3 1 4"], as_0=["3 2 1 4"], last=["3 1 4 2"]), "last; first with `--empty first`; error with `--empty error`",
     {**PLAIN, "gnu": [("", gnu()), ("`-n`", gnu("-k2,2n"))],
      "duckdb": [("", duckdb()), ("`NULLS FIRST`", duckdb("SELECT * FROM read_csv('t.csv') ORDER BY x NULLS FIRST"))],
      "gpusort": [("", gpusort())] + [(f"`--empty {w}`", gpusort(f"-k x --empty {w} t.csv")) for w in ("first", "error")]}),
    ("integers beyond 2^53, exactly", both(9007199254740993, 9007199254740992, 9), order("3 2 1", "1 2 3"), "yes", WHOLE),
    ("the same beside a decimal (`0.5`)", both(9007199254740993, 9007199254740992, 0.5), order("3 2 1", "1 2 3"), "yes",
     dict(WHOLE, duckdb=[("", duckdb()), typed("DECIMAL(38,9)")])),
    ("integers up to 2^64 - 1, exactly", both(18446744073709551615, 18446744073709551614, 9), order("3 2 1", "1 2 3"), "yes",
     dict(WHOLE, duckdb=[("", duckdb()), typed("UBIGINT")])),
    ("integers past 64 bits, exactly", both(18446744073709551617, 18446744073709551616, 9), order("3 2 1", "1 2 3"), "yes",
     dict(WHOLE, duckdb=[("", duckdb()), typed("HUGEINT")])),
    ("`-0.0` and `0.0`", [{"t.csv": table(1.5, "0.0", "-0.0", -1.5)}, {"t.csv": table(1.5, "-0.0", "0.0", -1.5)}],
     placed(**{"-0_first": ["4 3 2 1", "4 2 3 1"], "equal,_in_input_order": ["4 2 3 1", "4 2 3 1"]}), "equal, in input order", PLAIN),
    ("`inf`, `-inf` and `1e3`", [{"t.csv": table("1e3", 20, "-inf", "inf", "3e-2", 1.5)}], order("3 5 6 2 1 4"), "yes", PLAIN),
    ("equal keys keep their order", [{"t.csv": table(*KEYS)}], order(UP), "yes",
     dict(PLAIN, gnu=[("", gnu().replace("-s ", "")), ("`--stable`", gnu())],
          duckdb=[("", duckdb()), ("`row_number()`", duckdb(f"SELECT id, x FROM ({NUMBERED}) ORDER BY x, n"))])),
    ("descending too", [{"t.csv": table(*KEYS)}], order(DOWN), "yes",
     {"gpusort": gpusort("-k x -r t.csv"), "qsv": "qsvlite sort -N -R -s x t.csv", "xan": "xan sort -N -R -s x t.csv",
      "gnu": [("", gnu("-k2,2gr").replace("-s ", "")), ("`--stable`", gnu("-k2,2gr"))],
      "duckdb": [("", duckdb("SELECT * FROM read_csv('t.csv') ORDER BY x DESC")),
                 ("`row_number()`", duckdb(f"SELECT id, x FROM ({NUMBERED}) ORDER BY x DESC, n"))]}),
    ("`007`, `+5`, `1.10`, `1e1` and spaces stay as they are",
     [{"t.csv": "id,x,note\n1,007, a \n2,+5,b\n3,1.10,c  d\n4,1e1,\n"}],
     exact("id,x,note\n3,1.10,c  d\n2,+5,b\n1,007, a \n4,1e1,\n"), "yes", dict(PLAIN, duckdb=[("", duckdb()), AS_TEXT])),
    ("quotes stay as they are", [{"t.csv": "".join(QUOTED)}], exact("".join(QUOTED[i] for i in (0, 2, 3, 1))), "yes",
     dict(PLAIN, duckdb=[("", duckdb()), AS_TEXT])),
    ("CRLF line ends stay", [{"t.csv": table(3, 1, 10, 2, eol="\r\n")}],
     exact("id,x\r\n2,1\r\n4,2\r\n1,3\r\n3,10\r\n", "no: made LF"), "yes",
     dict(PLAIN, duckdb=[("", duckdb()), ("`NEW_LINE`", duckdb(how="HEADER, NEW_LINE '\\r\\n'"))],
          **{name: [("", PLAIN[name]), (f"`{name} fmt --crlf`", f"{PLAIN[name]} | {PROGRAM.get(name, name)} fmt --crlf")]
                    for name in ("qsv", "xan")})),
    ("LF and CRLF in one file stay, row by row", [{"t.csv": "".join(MIXED)}],
     exact("".join(MIXED[i] for i in (0, 2, 4, 1, 3)), "no: made LF"), "yes",
     dict(PLAIN, duckdb=[("", duckdb()),
                         ("`strict_mode=false`", duckdb("SELECT * FROM read_csv('t.csv', strict_mode=false) ORDER BY x"))])),
    ("the header stays on top", [{"t.csv": table(3, -5, 20)}], order("3 1 2"), "yes",
     {"gpusort": gpusort("-k x -r t.csv"), "qsv": "qsvlite sort -N -R -s x t.csv", "xan": "xan sort -N -R -s x t.csv",
      "gnu": [("", "sort -s -t, -k2,2gr t.csv"), ("`head` and `tail`", gnu("-k2,2gr"))],
      "duckdb": duckdb("SELECT * FROM read_csv('t.csv') ORDER BY x DESC")}),
    ("a comma or a line break inside quotes", [{"t.csv": 'id,x\n1,3\n"2, b",10\n"3\nc",2\n4,1\n'}],
     order(["4", "3\nc", "1", "2, b"]), "yes", PLAIN),
    ("two keys, each with its own direction", [{"t.csv": "id,x,y\n1,10,1\n2,9,5\n3,10,10\n4,9,20\n5,10,2\n"}],
     order("4 2 3 5 1", ties="no: one direction for all"), "yes",
     {"gpusort": gpusort("-k x -k y:r t.csv"), "gnu": gnu("-k2,2g -k3,3gr"),
      "qsv": [("", "qsvlite sort -N -s x,y t.csv"), ("two passes", "qsvlite sort -N -R -s y t.csv | qsvlite sort -N -s x")],
      "xan": [("", "xan sort -N -s x,y t.csv"), ("two passes", "xan sort -N -R -s y t.csv | xan sort -N -s x")],
      "duckdb": duckdb("SELECT * FROM read_csv('t.csv') ORDER BY x, y DESC")}),
    ("`-u` by key keeps the first row of each", [{"t.csv": table(*KEYS)}], order(FIRST), "yes", UNIQUE),
    ("to `-u`, `2` and `2.0` are one key", [{"t.csv": table(*[f"{k}.0" if i % 3 else k for i, k in enumerate(KEYS)])}],
     order(FIRST), "yes", UNIQUE),
    ("the first K of the result", [{"t.csv": table(*[i * 7919 % MANY for i in range(MANY)])}],
     order([str(i + 1) for i in sorted(range(MANY), key=lambda i: i * 7919 % MANY)[:5]]), "yes",
     {"gpusort": gpusort("-k x --top 5 t.csv"), "gnu": [("`head`", gnu(after=" | head -n 5"))],
      "qsv": [("`qsv slice`", "qsvlite sort -N -s x t.csv | qsvlite slice -l 5")], "xan": "xan top -R -l 5 x t.csv",
      "duckdb": duckdb("SELECT * FROM read_csv('t.csv') ORDER BY x LIMIT 5")}),
    ("positions (argsort)", [{"t.csv": table(30, 5, 20, 5)}], tokens("1 3 2 0"), "yes",
     {"gpusort": gpusort("-k x --argsort t.csv"),
      "gnu": [("`awk`", "tail -n +2 t.csv | awk '{ print NR-1 \",\" $0 }' | sort -s -t, -k3,3g | cut -d, -f1")],
      "qsv": [("`qsv enum`", "qsvlite enum t.csv | qsvlite sort -N -s x | qsvlite select index | qsvlite behead")],
      "xan": [("`xan enum`", "xan enum t.csv | xan sort -N -s x | xan select index | xan behead")],
      "duckdb": [("`row_number()`", duckdb(f"SELECT n - 1 FROM ({NUMBERED}) ORDER BY x, n", "HEADER false"))]}),
    ("is it sorted? (exit code)", [{"t.csv": table(2, 9, 10)}, {"t.csv": table(9, 10, 2)}], checked, "yes",
     {"gpusort": gpusort("-c -k x t.csv"), "gnu": "tail -n +2 t.csv | sort -c -t, -k2,2g", "qsv": "qsvlite sortcheck -s x t.csv",
      "xan": "xan sort --check -N -s x t.csv",
      "duckdb": [("a query", duckdb("SELECT error('not sorted') FROM (SELECT x < lag(x) OVER () AS less FROM "
                                     "read_csv('t.csv')) WHERE less"))]}),
    ("merge files that are sorted", [{"a.csv": "id,x\n1,2\n2,10\n3,30\n", "b.csv": "id,x\n4,1\n5,10\n6,9e9\n"}],
     order("4 1 2 5 3 6"), "yes",
     {"gpusort": gpusort("-m -k x a.csv b.csv"),
      "gnu": "(head -n 1 a.csv; sort -m -s -t, -k2,2g <(tail -n +2 a.csv) <(tail -n +2 b.csv))",
      "qsv": [("sorting all", "qsvlite cat rows a.csv b.csv | qsvlite sort -N -s x")],
      "xan": "xan merge -N -s x a.csv b.csv",
      "duckdb": [("sorting all", duckdb("SELECT id, x FROM read_csv(['a.csv', 'b.csv'], filename=true) ORDER BY x, filename"))]}),
    ("a row with a field too few or too many", [{"t.csv": RAGGED.format(more)} for more in ("", ",c,d")], ragged, "error",
     dict(PLAIN, duckdb=[("", duckdb()), ("`columns` given", duckdb(
         "SELECT * FROM read_csv('t.csv', header=true, auto_detect=false, columns={'id': 'INT', 'x': 'INT', 'y': 'TEXT'}) ORDER BY x"))])),
]

NOTES = """A cell is what the plain command did; "… with …" is what another flag, a second program or another query made of it.
"error" is a refusal with a message and a failing exit code, "first" and "last" go with no message.
The plain commands: `gpusort sort -k x`; `sort --stable -t, -k2,2g` under `LC_ALL=C`, with the header set aside by `head`
and `tail` (for the rows on equal keys without `--stable`, for those on integers with `-n`, not `-g`); `qsv sort -N -s x`;
`xan sort -N -s x`; DuckDB's `COPY (SELECT * FROM read_csv('t.csv') ORDER BY x) TO '/dev/stdout' (HEADER)`."""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("gpusort", "xan", "qsv", "duckdb-python"):
        parser.add_argument(f"--{option}", metavar="PATH")
    parser.add_argument("--verbose", action="store_true", help="the command and output behind each cell, too")
    args = parser.parse_args()
    given = {"gpusort": args.gpusort, "gnu": "sort", "qsv": args.qsv, "xan": args.xan, "duckdb": args.duckdb_python}
    tools = [tool for tool, path in given.items() if path]
    report, wrong = [], []
    with tempfile.TemporaryDirectory() as home:
        bin = os.path.join(home, "bin")
        os.mkdir(bin)
        env = {name: value for name, value in os.environ.items() if not name.startswith(("GPUSORT_", "QSV_"))}
        env.update(PATH=f"{bin}:{env['PATH']}", LC_ALL="C")
        for tool in tools:
            path = shutil.which(given[tool]) or sys.exit(f"{given[tool]}: not found")
            link = os.path.join(bin, PROGRAM.get(tool, tool))
            if tool == "duckdb":
                with open(link, "w") as file:
                    file.write(DUCKDB.format(shlex.quote(os.path.abspath(path))))
                os.chmod(link, 0o755)
            else:
                os.symlink(os.path.abspath(path), link)

        def bash(command):
            return subprocess.run(["bash", "-c", command], cwd=home, env=env, timeout=120,
                                  stdin=subprocess.DEVNULL, capture_output=True)

        def cell(tool, inputs, judge, variants):
            said = []
            for note, command in [("", variants)] if isinstance(variants, str) else variants:
                results = []
                for files in inputs:
                    for name, text in files.items():
                        with open(os.path.join(home, name), "w", newline="") as file:
                            file.write(text)
                    results.append(Result(files, bash(command)))
                word = judge(results)
                if not said or (said[0] != "yes" and word != said[0]):  # a better flag only where the plain way needs it
                    said.append(f"{word} with {note}" if note else word)
                report.append(f"**{NAMES[tool]}**, {note or 'plain'}: {word}\n\n    {command}")
                for result in results:
                    shown = (result.out + result.err).replace("\r", "\\r").splitlines() + [f"(exit code {result.rc})"]
                    shown = shown[:12] + ["..."] + shown[-1:] if len(shown) > 20 else shown
                    report.append("\n".join("    " + line for line in shown))
            return "; ".join(said)

        print("| |" + "|".join(f" {NAMES[tool]} " for tool in tools) + "|")
        print("|---" * (len(tools) + 1) + "|")
        for title, inputs, judge, promised, commands in ROWS:
            report.append(f"### {title}")
            cells = [cell(tool, inputs, judge, commands[tool]) for tool in tools]
            print(f"| {title} | " + " | ".join(cells) + " |", flush=True)
            if "gpusort" in tools and cells[0] != promised:
                wrong.append(f"{title}: gpusort: {cells[0]} (promised: {promised})")
        asks = {tool: f"{PROGRAM.get(tool, tool)} --version" for tool in tools if tool != "duckdb"}
        if "duckdb" in tools:
            asks["duckdb"] = f"{shlex.quote(args.duckdb_python)} -c 'import duckdb; print(duckdb.__version__)'"
        versions = [NAMES[tool] + " " + re.search(r"\d+(\.\d+)+", bash(ask).stdout.decode()).group() for tool, ask in asks.items()]
    print(f"\n{NOTES}\n\nVersions: {'; '.join(versions)}.")
    if args.verbose:
        print("\n" + "\n\n".join(report))
    for line in wrong:
        print(f"wrong: {line}", file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
