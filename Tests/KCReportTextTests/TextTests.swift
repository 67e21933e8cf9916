import KCByteStreams
import KCConsole
import KCTestSupport
import Testing

@testable import KCReportText

@Suite("Text, tables and JSON")
struct TextTests {
    @Test(
        "Characters have the width that terminals give them",
        arguments: [
            ("abc", 3), ("é", 1), ("e\u{301}", 1), ("漢字", 4), ("한", 2), ("\u{1112}\u{1161}\u{11ab}", 2), ("ｱ", 1),
            ("Ａ", 2), ("🙂", 2), ("👩‍👩‍👧", 2), ("❤️", 2), ("❤", 1), ("🇩🇪", 2), ("שלום", 4), ("", 0),
            ("देवनागरी", 7), ("हिन्दी", 4), ("नमस्ते", 4), ("क्षि", 2), ("বাংলা", 4), ("தமிழ்", 4), ("ผู้", 1),
            ("🏳️‍🌈", 2), ("1️⃣", 2), ("👍🏽", 2), ("👨🏿‍🚀", 2), ("☎", 1), ("☎️", 2), ("a\u{fe0f}", 1), ("⌚", 2),
        ])
    func widths(text: String, columns: Int) {
        #expect(displayWidth(text) == columns)
    }

    @Test("A text is cut between characters, and fits into its columns")
    func cuts() {
        #expect(fitted("abcdef", to: 4) == "ab…f")
        #expect(fitted("abcdefgh", to: 7) == "abc…fgh")
        #expect(fitted("ab", to: 1) == "…")
        #expect(fitted("देवनागरी", to: 5) == "देव…री")
        #expect(fitted("👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧", to: 5) == "👩‍👩‍👧…👩‍👩‍👧")
        #expect(fitted("abcd", to: 4) == "abcd")
        #expect(fitted("漢字漢字", to: 4) == "漢…")
        for limit in 1...9 { #expect(displayWidth(fitted("a漢字漢字", to: limit)) <= limit) }
    }

    @Test("No escape of a control character or a backslash is cut")
    func escapesAreWhole() {
        #expect(fitted("abcd\\u{1b}efgh", to: 11) == "abcd…efgh")
        #expect(fitted("ab\\u{1b}cdefghijkl", to: 16) == "ab\\u{1b}…fghijkl")
        #expect(fitted("a\\u{1b}\u{301}\\u{7}", to: 8) == "a\\u{1b}\u{301}…")
        #expect(fitted(#"\\\\\\"#, to: 5) == #"\\…\\"#)
    }

    @Test("A table fits the terminal, keeps what must not be cut, and leaves out empty columns")
    func tables() {
        var table = Table([
            Table.Column(title: "NAME", least: 6), Table.Column(title: "NOTHING"),
            Table.Column(title: "SIZE", alignment: .right),
        ])
        table.append(["a rather long name", "", "17"])
        table.append(["漢字", "", "1024"])
        #expect(
            table.lines(width: nil) == [
                "NAME                SIZE\n", "a rather long name    17\n", "漢字                1024\n",
            ])
        #expect(table.lines(width: 14) == ["NAME      SIZE\n", "a ra…ame    17\n", "漢字      1024\n"])
        // If no column can shrink further, the lines are longer than the terminal and nothing is lost.
        #expect(table.lines(width: 3) == ["NAME    SIZE\n", "a r…me    17\n", "漢字    1024\n"])
    }

    @Test("If the minimum widths do not fit, columns are left out in order of priority, and named")
    func columnsYield() {
        func lines(width: Int) -> (lines: [String], leftOut: [String]) {
            let table = StreamedTable(
                [
                    Table.Column(title: "NAME", least: 6), Table.Column(title: "GROUP", least: 4, yields: 2),
                    Table.Column(title: "MADE", yields: 1), Table.Column(title: "SIZE", yields: 3),
                ], width: width)
            let row = ["a rather long name", "group", "2026-11-22", "17"]
            table.measure(row)
            return ([table.header, table.row(row)], table.leftOut)
        }
        #expect(lines(width: 30).leftOut == [])
        #expect(lines(width: 29).lines == ["NAME              GROUP  SIZE\n", "a rather…ng name  group  17\n"])
        #expect(lines(width: 29).leftOut == ["MADE"])
        #expect(lines(width: 17).leftOut == ["GROUP", "MADE"])
        #expect(lines(width: 11).lines == ["NAME\n", "a rat… name\n"])
        #expect(lines(width: 3).leftOut == ["GROUP", "MADE", "SIZE"])
        for width in 6...60 { #expect(lines(width: width).lines.allSatisfy { $0.count <= width + 1 }, "\(width)") }
    }

    @Test("Messages are broken between words, never in a quoted command, and continuation lines are indented")
    func wrapping() {
        #expect(wrapped("one two three\n", to: 13) == "one two three\n")
        #expect(wrapped("one two three\nfour five six\n", to: 9) == "one two\n  three\nfour five\n  six\n")
        #expect(
            wrapped("kcbackup: hint: add it with 'kcbackup item add', or not", to: 32)
                == "kcbackup: hint: add it with\n  'kcbackup item add', or not")
        // An apostrophe begins no quotation, and a quotation that never ends does not hold the line together.
        #expect(wrapped("the user's own keychains", to: 12) == "the user's\n  own\n  keychains")
        #expect(wrapped("it's 'a b c d e f g h", to: 10) == "it's 'a b\n  c d e f\n  g h")
        // A quotation in a word of a command does not end the command.
        let command = #"'kcbackup list "the boys' notes" --json'"#
        #expect(wrapped("see \(command), or not", to: 12) == "see\n  \(command),\n  or not")
        #expect(wrapped(#"a '5" disk' has b c"#, to: 9) == "a\n  '5\" disk'\n  has b c")
        #expect(wrapped("漢字漢字 漢字", to: 11) == "漢字漢字\n  漢字")
        #expect(wrapped("a-word-that-is-too-long b", to: 8) == "a-word-that-is-too-long\n  b")
        // Indented lines stay so, and a title stays before what it is about.
        #expect(wrapped("  - one two three", to: 11) == "  - one two\n    three")
        #expect(wrapped("origin      elsewhere, by another", to: 20) == "origin      elsewhere,\n  by another")
    }

    @Test("Names are cut to their smallest widths only if nothing else can be left out")
    func namesYieldLast() {
        func lines(width: Int) -> [String] {
            var table = Table([
                Table.Column(title: "NAME", least: 12, fewest: 4), Table.Column(title: "MADE", yields: 1),
            ])
            table.append(["a rather long name", "2026-11-22"])
            return table.lines(width: width)
        }
        #expect(lines(width: 24) == ["NAME          MADE\n", "a rath… name  2026-11-22\n"])
        #expect(lines(width: 23).prefix(2) == ["NAME\n", "a rather long name\n"])
        #expect(lines(width: 7).prefix(2) == ["NAME\n", "a r…ame\n"])
    }

    @Test("A table that leaves out columns on a narrow terminal names them in a last line")
    func columnsAreMissed() {
        var table = Table([
            Table.Column(title: "NAME"), Table.Column(title: "MADE", yields: 1), Table.Column(title: "NOTHING"),
        ])
        table.append(["a rather long name", "2026-11-22", ""])
        #expect(table.lines(width: 29).last == "a wider terminal shows MADE\n  too\n")
        #expect(table.lines(width: 30).count == 2)
        #expect(table.lines(width: nil).count == 2)
    }

    @Test("A sentence that does not fit its column is printed in full below its row")
    func sentencesAreWhole() {
        var table = Table([
            Table.Column(title: "JOB", least: 3), Table.Column(title: "LAST RUN", least: 12, isWhole: true),
        ])
        table.append(["nightly", "missing: the folder '/mnt/usb/my backups' does not exist"])
        table.append(["weekly", "ok"])
        #expect(
            table.lines(width: 40) == [
                "JOB      LAST RUN\n",
                "nightly  …\n  missing: the folder\n    '/mnt/usb/my backups' does not exist\n", "weekly   ok\n",
            ])
        #expect(table.lines(width: nil)[1] == "nightly  missing: the folder '/mnt/usb/my backups' does not exist\n")
        // A name is not cut for a column whose cells are below their rows.
        table.append(["all-keychains-of-ada", "ok"])
        #expect(table.lines(width: 34).last == "all-keychains-of-ada  ok\n")
        var long = Table([Table.Column(title: "LAST RUN", least: 12, isWhole: true)])
        long.append([String(repeating: "word ", count: 100) + "end\u{1b}"])
        let lines = long.lines(width: 200)
        #expect(lines[1].split(separator: "\n").allSatisfy { $0.count <= 200 } && lines[1].hasSuffix("end\\u{1b}\n"))
    }

    @Test("A column that has the only name of a row is left out of a narrow table after all others")
    func namesStay() {
        func titles(_ rows: [[String]], width: Int) -> String {
            var table = Table([
                Table.Column(title: "SERVICE", least: 12, fewest: 8), Table.Column(title: "CLASS", yields: 7),
                Table.Column(title: "LABEL", least: 12, fewest: 8, yields: 8, repeats: "SERVICE"),
                Table.Column(title: "TRAVELS"),
            ])
            for row in rows { table.append(row) }
            return table.lines(width: width)[0].split(separator: " ").joined(separator: " ")
        }
        let named = ["A long service name", "genp", "Another long label", "anywhere"]
        let certificate = ["", "cert", "A long name of an authority", "anywhere"]
        #expect(titles([named], width: 30) == "SERVICE TRAVELS\n")
        #expect(titles([named, certificate], width: 30) == "SERVICE LABEL TRAVELS\n")
        #expect(titles([named, certificate], width: 20) == "SERVICE TRAVELS\n")
    }

    @Test("A column with the same cell in every row is left out of a narrow table before those that tell rows apart")
    func equalColumnsYield() {
        func titles(_ rows: [[String]], width: Int) -> String {
            var table = Table([
                Table.Column(title: "CLASS", yields: 10, yieldsIfEqual: 2),
                Table.Column(title: "SERVICE", least: 12, yieldsIfEqual: 3, standIn: "ACCOUNT"),
                Table.Column(title: "ACCOUNT", least: 8), Table.Column(title: "MADE", yields: 4),
            ])
            for row in rows { table.append(row) }
            return table.lines(width: width)[0].split(separator: " ").joined(separator: " ")
        }
        func file(_ path: String) -> [String] { ["generic", "kcbackup.home-file", path, "2026-11-22"] }
        let files = [file(".netrc"), file(".ssh/id")]
        #expect(titles(files, width: 42) == "CLASS SERVICE ACCOUNT MADE\n")
        #expect(titles(files, width: 41) == "SERVICE ACCOUNT MADE\n")
        #expect(titles(files, width: 32) == "ACCOUNT MADE\n")
        // They tell rows apart, or are the only names.
        #expect(titles(files + [["generic", "Bank", "ada", ""]], width: 32) == "SERVICE ACCOUNT\n")
        #expect(titles(files + [file("")], width: 32) == "SERVICE ACCOUNT\n")
        #expect(titles([files[0]], width: 41) == "CLASS SERVICE ACCOUNT\n")
    }

    @Test("A label stays in a narrow table if the service is left out because it is the same in every row")
    func labelsTellApart() {
        var table = Table([
            Table.Column(title: "SERVICE", least: 12, yieldsIfEqual: 3, standIn: "ACCOUNT"),
            Table.Column(title: "ACCOUNT"),
            Table.Column(title: "LABEL", least: 12, fewest: 8, yields: 4, repeats: "SERVICE"),
        ])
        table.append(["vpn.example.com", "ada", "VPN password"])
        table.append(["vpn.example.com", "ada", "VPN second factor"])
        #expect(table.lines(width: 17).prefix(2) == ["ACCOUNT  LABEL\n", "ada      VPN …ord\n"])
    }

    @Test("On a terminal, a column that repeats another in every row is left out")
    func repeatedColumn() {
        func lines(_ labels: [String], width: Int?) -> [String] {
            var table = Table([Table.Column(title: "SERVICE"), Table.Column(title: "LABEL", repeats: "SERVICE")])
            for label in labels { table.append(["Bank", label]) }
            return table.lines(width: width)
        }
        #expect(lines(["Bank", ""], width: 80) == ["SERVICE\n", "Bank\n", "Bank\n"])
        #expect(lines(["Bank", "My bank"], width: 80).first == "SERVICE  LABEL\n")
        #expect(lines(["Bank"], width: nil) == ["SERVICE  LABEL\n", "Bank     Bank\n"])
    }

    @Test("Sizes are sorted by size, numbers by value, and names as text")
    func sorting() {
        func sorted(_ cells: [String], _ alignment: Table.Alignment) -> [String] {
            let table = StreamedTable(
                [Table.Column(title: "SIZE", alignment: alignment)], width: nil, order: ["size"])
            for cell in cells { table.measure([cell]) }
            return table.rows(cells.map { [$0] }).map { String($0.drop { $0 == " " }.dropLast()) }
        }
        let sizes = ["2 B", "10 B", "11 B", "112 B", "1023 B", "1.0 KiB", "9.9 KiB", "10.0 KiB", "1.0 MiB", "none"]
        #expect(sorted(sizes.reversed(), .right) == sizes)
        #expect(sorted(["12", "9", "100"], .right) == ["9", "12", "100"])
        #expect(sorted(["9 B", "10 B"], .left) == ["10 B", "9 B"])
    }

    @Test("ASCII rows are sorted by their bytes as they are by their texts")
    func plainOrder() {
        let columns = [Table.Column(title: "NAME"), Table.Column(title: "SIZE", alignment: .right)]
        let cells = ["", "a", "A", "ab", "a b", "B", "z~", "0", "12", "+12", "012", "1.0 KiB", "10 B", "none", "-0"]
        var random = SeededRandom(seed: 3)
        var rows = HeldRows(columns: 2)
        for _ in 0..<400 { rows.append(TableRow((0..<2).map { _ in cells.randomElement(using: &random) ?? "" })) }
        for (chosen, putsNamelessLast) in [([0], true), ([1, 0], false), ([0, 1], true)] {
            let order = TableOrder(columns: chosen, putsNamelessLast: putsNamelessLast)
            #expect(order.sorted(rows, columns) == order.sortedByText(rows, columns))
        }
    }

    @Test("Rows are held to be sorted up to a size, and without a limit if an order is requested")
    func heldRows() {
        let rows = [["b", ""], ["ä", "two words"], ["", "x"], ["a", "1"]]
        func lines(order: [String], heldLimit: Int) -> [String] {
            let table = StreamedTable(
                [Table.Column(title: "NAME"), Table.Column(title: "TEXT")], width: nil, order: order,
                usualOrder: ["name"], heldLimit: heldLimit)
            for row in rows { table.survey(TableRow(row)) }
            #expect(table.isTooLongToSort == !table.isSorted)
            var output: [UInt8] = []
            table.forEachSortedRow { output.append($0) }
            return String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
        }
        #expect(lines(order: [], heldLimit: 1_000) == ["a     1", "b", "ä     two words", "      x"])
        #expect(lines(order: ["text"], heldLimit: 1) == ["a     1", "b", "ä     two words", "      x"])
        #expect(lines(order: [], heldLimit: 60) == [])
    }

    @Test("Requested columns come in the requested order, and none of them is left out")
    func chosenColumns() {
        let table = StreamedTable(
            [
                Table.Column(title: "NAME", least: 6), Table.Column(title: "GROUP", yields: 1),
                Table.Column(title: "SIZE", yields: 2),
            ], width: 3, chosen: ["size", "group"])
        table.measure(["a", "", "17"])
        #expect([table.header, table.row(["a", "", "17"])] == ["SIZE  GROUP\n", "17\n"])
        #expect(table.leftOut == [])
    }

    @Test("In a file or pipe nothing of a cell is left out, and one long cell does not make all rows as long")
    func nothingIsShortened() {
        let message = String(repeating: "a message that ends with its reason ", count: 40) + "é!"
        var table = Table([Table.Column(title: "LAST RUN", least: 12), Table.Column(title: "JOB")])
        table.append([message, "nightly"])
        table.append(["ok", "weekly"])
        let lines = table.lines(width: nil)
        #expect(lines[1] == message + "  nightly\n")
        #expect(lines[2] == "ok" + String(repeating: " ", count: 120) + "weekly\n")
        #expect(table.lines(width: 80)[1].contains("…"))
    }

    @Test("Text in a cell cannot control a terminal")
    func cellsAreHarmless() {
        var table = Table([Table.Column(title: "NAME")])
        table.append(["a\u{1b}[2J\nb\u{202e}"])
        #expect(table.lines(width: nil).last == "a\\u{1b}[2J\\u{a}b\\u{202e}\n")
    }

    @Test(
        "Byte counts are shown in a suitable unit",
        arguments: [
            (0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1536, "1.5 KiB"), (1 << 20, "1.0 MiB"),
            (5 << 40, "5.0 TiB"),
        ])
    func byteCounts(count: Int, text: String) {
        #expect(byteCount(UInt64(count)) == text)
    }

    @Test("JSON keeps the order of members, leaves out those without a value, and escapes strings")
    func json() throws {
        let value = JSONValue.members([("b", 1), ("none", nil), ("a", ["x": "\"\n", "y": [true, -5]])])
        #expect(try encoded(value) == #"{"b":1,"a":{"x":"\"\u000a","y":[true,-5]}}"#)
    }

    @Test("JSON for a terminal is ASCII with the same meaning")
    func asciiJSON() {
        var line = SecretBytes(capacity: 0)
        appendASCII(Array(#"{"a":"é🙂\u001b\#u{7f}\#u{9b}\#u{202e}"}"#.utf8).span, to: &line)
        let text = String(decoding: line.bytesForTest(), as: UTF8.self)
        #expect(text == #"{"a":"\u00e9\ud83d\ude42\u001b\u007f\u009b\u202e"}"#)
    }

    @Test("A secret is shown as escaped text or in hexadecimal, and in JSON in the form that imports use")
    func secrets() {
        func written(_ bytes: [UInt8], _ write: (borrowing Span<UInt8>, inout SecretBytes) -> Void) -> String {
            var text = SecretBytes(capacity: 0)
            write(bytes.span, &text)
            return String(decoding: text.bytesForTest(), as: UTF8.self)
        }
        #expect(written(Array("pä\u{1b}\\".utf8), appendShown) == "pä\\u{1b}\\\\")
        #expect(written([0xff, 0x00], appendShown) == "(hexadecimal) ff00")
        #expect(written(Array("a\"b".utf8), appendSecretJSON) == #""a\"b""#)
        #expect(written([0xff], appendSecretJSON) == #"{"base64":"/w=="}"#)
    }

    @Test("A list is written in pieces, none of which has more than one of its values")
    func listInPieces() throws {
        let value: JSONValue = [
            "a": .each { body in for number in 0..<100 { try body(.number(number)) } }, "b": [1, 2],
        ]
        var (line, written, largest): ([UInt8], [UInt8], Int) = ([], [], 0)
        try value.encode(into: &line) { line in
            largest = max(largest, line.count)
            written += line
            line = []
        }
        let expected = #"{"a":[\#((0..<100).map(String.init).joined(separator: ","))],"b":[1,2]}"#
        #expect(String(decoding: written + line, as: UTF8.self) == expected)
        #expect(largest < 10)
    }

    private func encoded(_ value: JSONValue) throws -> String {
        var line = SecretBytes(capacity: 0)
        try value.encode(into: &line)
        return String(decoding: line.bytesForTest(), as: UTF8.self)
    }
}
