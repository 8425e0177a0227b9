"""Samples of what people have: output of commands, logs, and tables. Each maker takes a random generator."""

import json
from dataclasses import dataclass, field
from random import Random


@dataclass
class Sample:
    """Lines of one input, and the keys and options that go with them.

    `head` has the lines of a header or of comments, which stay in front when the lines are cut into several files.
    """

    name: str
    lines: list[str]
    keys: list[str]
    head: list[str] = field(default_factory=list)
    options: list[list[str]] = field(default_factory=lambda: [[]])
    table: bool = False


WORDS = ["alpha", "beta", "gamma", "delta", "Echo", "echo", "fox", "Golf", "hotel", "zulu", "a", "b", "Zürich", "été", "x_y", "x-y"]
NAMES = ["anna", "bob", "carl", "dora", "root", "www-data"]
MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]


def count(r: Random) -> int:
    """Give a small number of records, often none or one, and `scale` times as many for some generators."""
    found = r.choice([0, 1, 2, 3, 5, 8, 12, 20, 40, 60]) if r.random() < 0.9 else r.randint(0, 60)
    return found * getattr(r, "scale", 1)


def number(r: Random) -> str:
    """Give a number as people write it."""
    return r.choice([lambda: str(r.randint(-20, 20)), lambda: str(r.randint(0, 3)), lambda: f"{r.uniform(-9, 9):.2f}",
                     lambda: f"{r.randint(0, 99999)}", lambda: "0"])()


def extreme(r: Random) -> str:
    """Give a number with many digits, exponents, signs and zeros."""
    digits = "".join(r.choice("0011239") for _ in range(r.choice([1, 2, 5, 19, 20, 40, 120])))
    if r.random() < 0.5:
        at = r.randint(0, len(digits))
        digits = digits[:at] + "." + digits[at:]
    sign = r.choice(["", "", "", "-", "+"])
    exponent = r.choice(["", "", "", "e5", "E-5", "e+30", "e-400", "e400", "e999999999999999999", "e-1000000000000000000"])
    special = r.choice(["inf", "-inf", "NaN", "nan", "Infinity", "-0", "+0.0", "0e9", "1e0", "10e-1", "1", "1.", ".5", "00.50"])
    return special if r.random() < 0.25 else sign + digits + exponent


def parts(r: Random) -> dict:
    """Give the parts of a time between 2019 and 2027."""
    import datetime
    year, month, day = r.choice([2019, 2023, 2024, 2024, 2026]), r.randint(1, 12), r.randint(1, 28)
    date = datetime.date(year, month, day)
    return dict(Y=year, m=month, d=day, b=MONTHS[month - 1], a=DAYS[date.weekday()], H=r.randint(0, 23), M=r.randint(0, 59),
                S=r.randint(0, 59), f="".join(r.choice("0123456789") for _ in range(r.choice([3, 6, 9]))),
                z=r.choice(["+0000", "+0100", "-0500", "+0530"]))


def time(r: Random, form: str) -> str:
    """Write a random time in a form."""
    return form.format(**parts(r))


ISO = "{Y:04}-{m:02}-{d:02}"
CLOCK = "{H:02}:{M:02}:{S:02}"


def size(r: Random) -> str:
    """Give a size as `du -h` writes it."""
    unit = r.choice(["K", "K", "M", "G"])
    return r.choice(["0", f"{r.uniform(1, 9.9):.1f}{unit}", f"{r.randint(10, 1023)}{unit}", f"{r.randint(1, 999)}"])


def ls_l(r: Random, human: bool = False) -> Sample:
    def line() -> str:
        p = parts(r)
        bytes_ = f"{size(r):>5}" if human else f"{r.randint(0, 99999):>6}"
        when = r.choice([f"{p['b']} {p['d']:>2} {p['H']:02}:{p['M']:02}", f"{p['b']} {p['d']:>2}  {p['Y']}"])
        return f"-rw-r--r-- {r.randint(1, 3)} {r.choice(NAMES)} users {bytes_} {when} {r.choice(WORDS)}"
    return Sample("ls.txt", [line() for _ in range(count(r))], ["5", "5n", "5:size", "3", "-1", "9", "2,2n", "6", "5:r"])


def du(r: Random) -> Sample:
    return Sample("du.txt", [f"{size(r)}\t./{r.choice(WORDS)}/{r.choice(WORDS)}" for _ in range(count(r))],
                  ["1", "1:size", "2", "1h", "1,1h", "1:r"], options=[[], ["-h"], ["-hr"]])


def df(r: Random) -> Sample:
    aligned = f"{'Filesystem':<15} {'Size':>5} {'Used':>5} {'Avail':>5} {'Use%':>4} Mounted on"
    head = r.choice([aligned, aligned, aligned, "Filesystem      Size  Used Avail Use% Mounted on"])
    lines = [f"{'/dev/' + r.choice(['sda1', 'sdb2', 'nvme0n1p1']):<15} {size(r):>5} {size(r):>5} {size(r):>5} {r.randint(0, 100):>3}% /{r.choice(WORDS[:4])}"
             for _ in range(count(r))]
    return Sample("df.txt", lines, ["Size", "Use%", "Use%:r", "Avail", "Used:r", "Mounted on", "Filesystem", "5", "2:size"], [head],
                  [["--header"], ["--header"], []])


def ps(r: Random) -> Sample:
    head = "USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND"
    lines = [f"{r.choice(NAMES):<8} {r.randint(1, 99999):>7} {r.randint(0, 199) / 10:>4} {r.randint(0, 99) / 10:>4} {r.randint(0, 99999):>6} "
             f"{r.randint(0, 9999):>5} {r.choice(['?', 'pts/0']):<8} {r.choice(['Ss', 'R+', 'S']):<4} {r.randint(0, 23):02}:{r.randint(0, 59):02} "
             f"{r.randint(0, 12):>3}:{r.randint(0, 59):02} {r.choice(WORDS)}{r.choice(['', ' -x', ' --all 3'])}" for _ in range(count(r))]
    return Sample("ps.txt", lines, ["%CPU:r", "PID", "RSS:r", "COMMAND", "TIME", "USER", "3", "10:duration", "-1", "START"], [head],
                  [["--header"], []])


def free(r: Random) -> Sample:
    head = f"{'':15}{'total':>12}{'used':>12}{'free':>12}"
    lines = [f"{name:<15}" + "".join(f"{r.randint(0, 10**r.randint(1, 9)):>12}" for _ in range(3)) for name in ["Mem:", "Swap:", "Total:"][: count(r)]]
    return Sample("free.txt", lines, ["used", "free:r", "total", "2", "1"], [head], [["--header"], []])


def docker(r: Random) -> Sample:
    head = f"{'CONTAINER ID':<15}{'IMAGE':<12}{'CREATED':<18}{'STATUS':<18}{'SIZE':<9}NAMES"
    lines = [f"{'%012x' % r.getrandbits(48):<15}{r.choice(['nginx', 'redis:7', 'app:1.2']):<12}{r.choice(['2 days ago', 'About an hour ago', '3 weeks ago']):<18}"
             f"{r.choice(['Up 2 hours', 'Exited (0)', 'Up 3 weeks']):<18}{r.choice(['314MB', '1.21GB', '5.57MB', '12.3kB']):<9}{r.choice(WORDS)}"
             for _ in range(count(r))]
    return Sample("docker.txt", lines, ["NAMES", "SIZE", "IMAGE", "CONTAINER ID", "CREATED", "STATUS:r", "SIZE:r", "-1"], [head],
                  [["--header"], []])


def kubectl(r: Random) -> Sample:
    head = f"{'NAME':<14}{'READY':<8}{'STATUS':<20}{'RESTARTS':<16}AGE"
    lines = [f"{r.choice(WORDS[:4]) + '-' + r.choice('xyz'):<14}{r.choice(['1/1', '0/1']):<8}{r.choice(['Running', 'CrashLoopBackOff', 'Pending']):<20}"
             f"{r.choice(['0', '3', '12', '5 (3m ago)']):<16}{r.choice(['5d', '3h2m', '45s', '12m', '120d'])}" for _ in range(count(r))]
    return Sample("pods.txt", lines, ["AGE", "AGE:r", "NAME", "RESTARTS", "STATUS", "READY", "5", "AGE:duration"], [head],
                  [["--header"], []])


def access_log(r: Random) -> Sample:
    lines = [f"10.0.{r.randint(0, 2)}.{r.randint(0, 255)} - - [{time(r, '{d:02}/{b}/{Y}:{H:02}:{M:02}:{S:02} {z}')}] \"GET /{r.choice('abc')} HTTP/1.1\" "
             f"{r.choice([200, 404, 500])} {r.choice([r.randint(0, 9999), r.randint(0, 9999), '-'])}" for _ in range(count(r))]
    return Sample("access.log", lines, ["4", "10", "10:r", "1", "9", "7", "-1", "4:time", "10n"], options=[[], [], ["--na", "-"]])


def syslog(r: Random) -> Sample:
    lines = [time(r, "{b} {d:>2} {H:02}:{M:02}:{S:02} ") + f"host{r.randint(1, 3)} sshd[{r.randint(1, 99)}]: {r.choice(WORDS)}" for _ in range(count(r))]
    return Sample("sys.log", lines, ["1", "4", "5", "1:r", "1:time", "3", "2"])


def nginx_error(r: Random) -> Sample:
    lines = [time(r, "{Y}/{m:02}/{d:02} {H:02}:{M:02}:{S:02}") + f" [{r.choice(['error', 'warn'])}] {r.randint(1, 99)}#0: *{r.randint(1, 99)} {r.choice(WORDS)}"
             for _ in range(count(r))]
    return Sample("error.log", lines, ["1", "3", "2", "1:time", "1:r"])


def go_log(r: Random) -> Sample:
    form = r.choice(["{Y}/{m:02}/{d:02} {H:02}:{M:02}:{S:02}.{f}", ISO + "T" + CLOCK + ".{f}Z", ISO + " " + CLOCK])
    return Sample("go.log", [f"{time(r, form)} {r.choice(WORDS)} took={r.randint(1, 9)}ms" for _ in range(count(r))], ["1", "1:r", "1:time", "-1"])


def git_log(r: Random) -> Sample:
    form = r.choice(["{a} {b} {d} {H:02}:{M:02}:{S:02} {Y} {z}", ISO + " " + CLOCK + " {z}", "{a}, {d} {b} {Y} {H:02}:{M:02}:{S:02} {z}",
                     "{d} {b} {Y} {H:02}:{M:02}:{S:02} {z}", "{a} {b} {d:>2} {H:02}:{M:02}:{S:02} {Y}"])
    return Sample("git.log", [f"{'%07x' % r.getrandbits(28)} {time(r, form)} {r.choice(WORDS)}" for _ in range(count(r))], ["2", "2:time", "2:r", "-1", "1:text", "1:hex"])


def iso_times(r: Random) -> Sample:
    forms = r.choice([[ISO], [ISO, ISO + " " + CLOCK], [ISO + "T" + CLOCK + "{z}", ISO + "T" + CLOCK + "Z"], [ISO + " {H:02}:{M:02}"],
                      [ISO + "T" + CLOCK + ".{f}Z"], [ISO + " " + CLOCK, ISO + " " + CLOCK + " {z}"]])
    return Sample("iso.txt", [time(r, r.choice(forms)) + r.choice(["", " " + r.choice(WORDS)]) for _ in range(count(r))], ["1", "1:r", "2", "1:time", "-1"])


def csv_text(value: str, separator: str = ",") -> str:
    """Quote a value where RFC 4180 wants it."""
    return '"' + value.replace('"', '""') + '"' if any(c in value for c in (separator, '"', "\n")) else value


def csv(r: Random, cells, options: list[list[str]] | None = None, separator: str = ",", name: str = "data.csv") -> Sample:
    """Make a table with a key column `v` of the given cells."""
    lines = []
    for number_ in range(count(r)):
        row = [str(number_), cells(r), r.choice(WORDS)]
        lines.append(separator.join(csv_text(value, separator) for value in row))
    keys = ["v", "v", "v", "v:r", "2", "name", "id:r", "0", "v:text", "v:number", "-1"]
    return Sample(name, lines, keys, [separator.join(["id", "v", "name"])], options or [[]], table=True)


def prices(r: Random) -> Sample:
    sign = r.choice(["${}", "€{}", "{} €", "£{}", "{}%", "${}", "-${}", "$-{}"])
    return csv(r, lambda r: sign.format(f"{r.uniform(0, 200):.2f}"))


def thousands(r: Random) -> Sample:
    return csv(r, lambda r: r.choice(["", "$"]) * 0 + f"{r.uniform(0, 99999):,.2f}", [["--thousands", ","], ["--thousands=,"], []])


def decimal_comma(r: Random) -> Sample:
    sample = csv(r, lambda r: f"{r.uniform(-20, 200):.2f}".replace(".", ","), [["--decimal", ","], []], ";", "data.csv")
    sample.keys = ["v", "v:r", "name", "v:number"]
    return sample


def mixed(r: Random) -> Sample:
    words = r.choice([["n/a"], ["-"], ["null"], ["n/a", "-"], ["unknown", "n/a"], [""]])
    share = r.choice([0.1, 0.3, 0.9])
    return csv(r, lambda r: r.choice(words) if r.random() < share else number(r),
               [[], ["--invalid", "last"], ["--invalid", "first"], ["--invalid", "skip"], ["--na", ",".join(w for w in words if w) or "x"], ["-n"],
                ["-n", "--invalid=last"]])


def dates_csv(r: Random) -> Sample:
    form = r.choice(["{m:02}/{d:02}/{Y}", "{d:02}/{m:02}/{Y}", "{d:02}.{m:02}.{Y}", "{d:02}-{m:02}-{Y}", ISO, "{d:02}.{m:02}.{Y} {H:02}:{M:02}"])
    pattern = form.replace("{m:02}", "%m").replace("{d:02}", "%d").replace("{Y:04}", "%Y").replace("{Y}", "%Y").replace("{H:02}", "%H").replace("{M:02}", "%M")
    return csv(r, lambda r: time(r, form), [[], ["--time-format", pattern], ["--time-format=" + pattern]])


def tsv(r: Random) -> Sample:
    return csv(r, number, None, "\t", "data.tsv")


def versions(r: Random) -> Sample:
    def version() -> str:
        base = r.choice(["", "", "v"]) + ".".join(str(r.choice([0, 1, 2, 9, 10, 11])) for _ in range(r.choice([2, 3, 3, 4])))
        return base + r.choice(["", "", "", "-rc1", "-rc10", "+build", "~beta"])
    return Sample("tags.txt", [version() + r.choice(["", " " + r.choice(WORDS)]) for _ in range(count(r))], ["1", "1:version", "1V", "2", "1:r"],
                  options=[[], [], ["-V"]])


def addresses(r: Random) -> Sample:
    tail = r.choice(["", "/24", ":80"])
    return Sample("ip.txt", [f"{r.choice([9, 10, 192])}.{r.randint(0, 2)}.{r.randint(0, 255)}.{r.randint(0, 255)}{tail} {r.choice(WORDS)}" for _ in range(count(r))],
                  ["1", "1:version", "1V", "2", "1:text", "1:r"])


def durations(r: Random) -> Sample:
    makers = [lambda: f"{r.randint(1, 999)}{r.choice(['ns', 'us', 'µs', 'ms', 's', 'm', 'h', 'd'])}", lambda: f"{r.randint(0, 5)}h{r.randint(0, 59)}m{r.randint(0, 59)}s",
              lambda: f"{r.uniform(0, 9):.3f}s", lambda: "0"]
    clocks = r.choice([[lambda: f"{r.randint(0, 12)}:{r.randint(0, 59):02}:{r.randint(0, 59):02}"], [lambda: f"{r.randint(0, 59)}:{r.randint(0, 59):02}"],
                       [lambda: f"{r.randint(1, 9)}-{r.randint(0, 23):02}:00:01", lambda: f"{r.randint(0, 23):02}:00:02", lambda: f"{r.randint(0, 59):02}:09"]])
    chosen = r.choice([makers, makers, makers[:3], clocks])
    first = r.random() < 0.5
    lines = [r.choice(chosen)() for _ in range(count(r))]
    return Sample("times.txt", [f"{x} {r.choice(WORDS)}" if first else f"{r.choice(WORDS)} {x}" for x in lines],
                  ["1", "1:r", "1:duration"] if first else ["2", "2:r", "2:duration", "-1"])


def hexadecimal(r: Random) -> Sample:
    prefix = r.choice(["0x", "", "0X"])
    return Sample("hex.txt", [f"{prefix}{r.getrandbits(r.choice([4, 8, 32, 64])):{r.choice('xX')}} {r.choice(WORDS)}" for _ in range(count(r))],
                  ["1:hex", "1:hex:r", "1:text", "2"])


def months(r: Random) -> Sample:
    names = ["Jan", "feb", "MAR", "April", "may", "JUNE", "Jul", "August", "sept", "SEP", "October", "nov", "December", "x"]
    return Sample("months.txt", [f"{r.choice(names)} {r.choice(WORDS)}" for _ in range(count(r))], ["1:month", "1:month:r", "1,1M", "1M", "1:text", "2"],
                  options=[[], ["--invalid", "last"], ["--invalid=skip"], ["-u", "--invalid=skip"]])


def numbers(r: Random) -> Sample:
    maker = r.choice([number, extreme, extreme])
    tail = r.choice([False, True])
    return Sample("n.txt", [maker(r) + (" " + r.choice(WORDS) if tail and r.random() < 0.8 else "") for _ in range(count(r))],
                  ["1", "1n", "1g", "1:number", "1:r", "1,1n", "-1", "0"], options=[[], [], ["-n"], ["-g"], ["-nr"]])


def sizes(r: Random) -> Sample:
    return Sample("s.txt", [f"{r.choice(WORDS)} {size(r)}" for _ in range(count(r))], ["2", "2h", "2:size", "2:r", "-1"], options=[[], ["-h"]])


def words(r: Random) -> Sample:
    return Sample("words.txt", [r.choice(WORDS) + r.choice(["", "", " " + r.choice(WORDS), "  x"]) for _ in range(count(r))],
                  ["1", "2", "1f", "1:nocase", "0", "1:r", "-1"], options=[[], [], ["-f"], ["-u"]])


def authorized_keys(r: Random) -> Sample:
    return Sample("authorized_keys", [f"ssh-{r.choice(['rsa', 'ed25519'])} AAAA{r.choice('BCD')}{r.randint(0, 9)} {r.choice(NAMES)}@host" for _ in range(count(r))],
                  ["3", "1", "2", "-1"], options=[[], ["-u"]])


def passwd(r: Random) -> Sample:
    return Sample("passwd", [f"{r.choice(NAMES)}:x:{r.randint(0, 2000)}:{r.randint(0, 9)}:{r.choice(['', 'Full Name'])}:/home/{r.choice(NAMES)}:/bin/sh" for _ in range(count(r))],
                  ["3", "3n", "3:r", "1", "5", "3,3n", "4", "-1"], options=[["-t", ":"], ["-t:"], ["--delimiter=:"]])


def counted(r: Random) -> Sample:
    return Sample("counts.txt", [f"{r.randint(1, 120):>7} {r.choice(WORDS)}" for _ in range(count(r))], ["1", "2", "1n", "1nr", "1:r"],
                  options=[[], ["-rn"], ["-n"], ["-r"]])


def leading(r: Random) -> Sample:
    return Sample("m.txt", [f"{r.randint(0, 99):04}-{r.choice(WORDS[:4])}.md" for _ in range(count(r))], ["1", "1n", "1:number"],
                  options=[["-n"], ["-n", "--leading"], ["--leading"], []])


def vcf(r: Random) -> Sample:
    head = ["##fileformat=VCFv4.2", "#CHROM\tPOS\tID\tREF\tALT\tQUAL"]
    lines = [f"chr{r.choice([1, 2, 10, 'X'])}\t{r.randint(1, 999)}\trs{r.randint(1, 99)}\tA\tC\t{r.choice(['.', '50', '9.5'])}" for _ in range(count(r))]
    return Sample("a.vcf", lines, ["1", "POS", "2", "2,2n", "ID", "QUAL:number", "POS:r", "1V"], head, [["--comments"], ["--comments", "--na", "."]])


def gff(r: Random) -> Sample:
    lines = [r.choice(["###", "#note"]) if r.random() < 0.1 else f"c{r.randint(1, 3)}\tx\tgene\t{r.randint(1, 99)}\t{r.randint(100, 200)}" for _ in range(count(r))]
    return Sample("a.gff", ["##gff-version 3", *lines] if lines else [], ["1", "4", "4,4n", "1,1", "5:r"], [], [["--comments"], ["--comments", "-t", "\t"], []])


def json_lines(r: Random) -> Sample:
    values = r.choice([[1, 2.5, -3, 10**20, 0.1], ["x", "y", "10", "9", ""], [1, "x", None], [True, False, None], ["2024-01-02", "2023-05-06T07:08:09"],
                       ["12ms", "1.5s", "0"], ["1.2.10", "1.2.9", "10.0.0.1"], ["4.0K", "900", "1.5M"], [1, None, 3], ["a", None, ""], [True, "x"],
                       ["10", "9", "8"], [1, "2"]])
    lines = []
    for _ in range(count(r)):
        record = {"id": r.randint(0, 9), "a": r.choice(values), "user": {"id": r.randint(0, 9)}, "tags": [r.choice(WORDS), "t"]}
        if r.random() < 0.1:
            del record["a"]
        lines.append("" if r.random() < 0.04 else json.dumps(record, ensure_ascii=r.random() < 0.5))
    return Sample("j.jsonl", lines, ["a", "a", "a:r", "user.id", "tags[0]", "id", "a:text", "0"], options=[[], [], ["--invalid", "last"]], table=True)


def blanks(r: Random) -> Sample:
    return Sample("b.txt", [r.choice(["", "", " ", "\t", "x", " x", "3", "  12 y"]) for _ in range(count(r))], ["1", "2", "0", "1:text", "-1"])


def quoted(r: Random) -> Sample:
    values = ["a", "b, c", 'say "hi"', "two\nlines", "", " padded ", "Z"]
    return csv(r, lambda r: r.choice(values))


def epochs(r: Random) -> Sample:
    unit = r.choice(["epoch", "epoch-ms"])
    return Sample("e.txt", [f"{r.randint(0, 2 * 10**9)}{r.choice(['', '.25'])} {r.choice(WORDS)}" for _ in range(count(r))], ["1", "1:time", "1:r"],
                  options=[[], ["--time-format", unit]])


def columns_of_blanks(r: Random) -> Sample:
    lines = [" ".join([r.choice(WORDS), number(r)] + [r.choice(WORDS)] * r.choice([1, 1, 2])) for _ in range(count(r))]
    return Sample("t.txt", lines, ["value", "value:r", "rest", "name", "2"], ["name value rest"], [["--header"], []])


TOKENS = {
    "number": number, "extreme": extreme, "size": size, "word": lambda r: r.choice(WORDS), "na": lambda r: r.choice(["n/a", "-", "NULL"]),
    "duration": lambda r: r.choice(["12ms", "1h2m", "3s", "0"]), "clock": lambda r: f"{r.randint(0, 9)}:{r.randint(0, 59):02}:{r.randint(0, 59):02}",
    "short-clock": lambda r: f"{r.randint(0, 59)}:{r.randint(0, 59):02}", "version": lambda r: f"{r.randint(0, 11)}.{r.randint(0, 11)}.{r.randint(0, 11)}",
    "short-version": lambda r: f"{r.randint(0, 3)}.{r.randint(0, 12)}", "date": lambda r: time(r, ISO), "instant": lambda r: time(r, ISO + "T" + CLOCK + "Z"),
    "local": lambda r: time(r, ISO + " " + CLOCK), "syslog": lambda r: time(r, "{b} {d:>2} {H:02}:{M:02}:{S:02}"), "dollar": lambda r: f"${r.randint(0, 99)}",
    "percent": lambda r: f"{r.randint(0, 99)}%", "special": lambda r: r.choice(["nan", "inf", "-inf", "NaN"]), "hex": lambda r: f"0x{r.randint(0, 99):x}",
    "day-month": lambda r: time(r, "{d:02}.{m:02}.{Y}"), "file": lambda r: f"{r.randint(0, 12)}-{r.choice(WORDS)}", "bytes": lambda r: r.choice(["\udcff", "\udc80x", "\u4e2d", "\U0001f600"]),
}


def soup(r: Random) -> Sample:
    """Mix fields of one to three sorts in a column of lines."""
    sorts = [r.choice(list(TOKENS)) for _ in range(r.choice([1, 2, 2, 3]))]
    weights = [r.choice([1, 1, 8]) for _ in sorts]
    lines = []
    for _ in range(count(r)):
        token = TOKENS[r.choices(sorts, weights)[0]](r)
        lines.append(r.choice(["", "", "", " ", "\t"]) + token + r.choice(["", "", " ", " x", "  y z", "\t7"]))
    return Sample("soup.txt", lines, ["1", "1", "1:r", "-1", "2", "1:text", "1:number"], options=[[], [], [], ["--invalid", "last"], ["--na", "n/a,-,NULL"]])


def soup_csv(r: Random) -> Sample:
    """Mix fields of one to three sorts in a column of a table."""
    sorts = [r.choice([name for name in TOKENS if name != "bytes"]) for _ in range(r.choice([1, 2, 2, 3]))]
    weights = [r.choice([1, 1, 8]) for _ in sorts]
    return csv(r, lambda r: r.choice(["", "", "", "", " "]) + TOKENS[r.choices(sorts, weights)[0]](r), [[], [], ["--invalid", "last"], ["--invalid=skip"], ["--na", "n/a,-,NULL"]])


FAMILIES = {
    "ls-l": ls_l, "ls-lh": lambda r: ls_l(r, True), "du": du, "df": df, "ps": ps, "free": free, "docker": docker, "kubectl": kubectl, "access-log": access_log,
    "syslog": syslog, "nginx-error": nginx_error, "go-log": go_log, "git-log": git_log, "iso-times": iso_times, "prices": prices,
    "thousands": thousands, "decimal-comma": decimal_comma, "mixed": mixed, "dates-csv": dates_csv, "tsv": tsv, "versions": versions,
    "addresses": addresses, "durations": durations, "hex": hexadecimal, "months": months, "numbers": numbers, "sizes": sizes, "words": words,
    "authorized-keys": authorized_keys, "passwd": passwd, "uniq-counts": counted, "leading": leading, "vcf": vcf, "gff": gff,
    "json-lines": json_lines, "blank-lines": blanks, "quoted": quoted, "epochs": epochs, "columns-of-blanks": columns_of_blanks, "soup": soup, "soup-csv": soup_csv,
}
