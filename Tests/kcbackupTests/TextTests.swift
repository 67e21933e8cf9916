import KCByteStreams
import KCReportText
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Text of commands and tables")
struct TextTests {
    @Test(
        "A path in a suggested command is one word, which the shell neither splits nor expands",
        arguments: [
            ("/home/ada/login.kcb", "/home/ada/login.kcb"), ("./Bücher.kcb", "./Bücher.kcb"),
            ("/media/My Disk/a.kcb", #""/media/My Disk/a.kcb""#), ("$HOME/`x`", #"'$'"HOME/"'`'"x"'`'"#),
            (#"a"b"#, #""a\"b""#), ("a'b&c", #""a'b&c""#), ("", #""""#),
        ])
    func shellWords(path: String, word: String) {
        #expect(shellWord(path) == word)
    }

    @Test("The name of an archive in a list is never cut, however narrow the terminal")
    func archiveNames() {
        let name = "login-KC-ABCDEFGH-20261121T030000Z.kcb"
        for width in [20, 40, 60, 80] {
            let table = StreamedTable(ListCommand.columns(zones: "UTC"), width: width)
            let row = [
                name, "2026-11-21 03:00", "login", "12", "8.0 KiB", "encrypted", "this device", "2026-11-21",
                "never", "ok",
            ]
            table.measure(row)
            #expect(table.row(row).contains(name), "\(width)")
        }
    }

    @Test("A list of archives names the columns for which the terminal is too narrow; in a pipe, none are missing")
    func archiveColumns() throws {
        let home = try TestHome()
        #expect(home.run("keychain create --no-passcode").status == .ok)
        #expect(home.run("create --unencrypted --to b").status == .ok)
        let narrow = home.run(["list", "b"], terminal: ScriptedTerminal(showsOutput: true))
        #expect(narrow.text.contains("\n'--wide' shows ") && narrow.text.hasSuffix("DRILLED too\n"), "\(narrow.text)")
        let piped = home.run("list b").text
        #expect(piped.contains("DRILLED") && !piped.contains("--wide"), "\(piped)")
    }
}
