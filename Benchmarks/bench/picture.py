"""A picture of the times of kcbackup beside those of other programs, in the colors of the other pictures."""

import html

GROUPS = [
    ("a backup that is read back and compared", ["kcbackup create", ".backup | gzip | age, compared",
                                                 ".backup | zstd | age, compared"]),
    ("other backups, which are not", [".backup | gzip | age", ".backup | zstd | age",
                                      "restic backup", "borg create"]),
    ("checking one", ["kcbackup verify", "age -d | zstd -d", "restic check --read-data", "borg check --verify-data"]),
    ("getting the items back", ["kcbackup restore", "kcbackup restore again", "sqlite3 insert", "restic restore"]),
    ("reading all items", ["kcbackup item list", "kcbackup inspect", "sqlite3 select *", "keepassxc-cli export"]),
]
OURS, OTHERS, PLAIN, DIM = "#9ece6a", "#7aa2f7", "#e6e6e6", "#9aa0a6"
WIDTH, LEFT, BAR, LINE = 760, 300, 360, 18


def draw(count, times):
    """An SVG picture; `times` has the seconds of each command that was measured."""
    shown = [(title, [name for name in names if name in times]) for title, names in GROUPS]
    longest = max(times[name] for _, names in shown for name in names)
    y, parts = 28, []

    def say(x, words, color, anchor="start"):
        parts.append(f'<text x="{x}" y="{y}" fill="{color}" text-anchor="{anchor}">{html.escape(words)}</text>')

    say(16, f"Seconds for {count:,} items (make bench)", PLAIN)
    for title, names in shown:
        y += LINE + 10
        say(16, title, DIM)
        for name in names:
            y += LINE
            ours = name.startswith("kcbackup ")
            color = OURS if ours else OTHERS
            width = max(1, BAR * times[name] / longest)
            say(LEFT - 8, name, PLAIN, "end")
            parts.append(f'<rect x="{LEFT}" y="{y - 11}" width="{width:.1f}" height="13" fill="{color}"/>')
            say(LEFT + width + 6, f"{times[name]:.2f}", PLAIN)
    height = y + 16
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
            f'role="img" xml:space="preserve" font-family="monospace" font-size="13">\n'
            f'<rect width="100%" height="100%" rx="8" fill="#1e1e24"/>\n' + "\n".join(parts) + "\n</svg>\n")
