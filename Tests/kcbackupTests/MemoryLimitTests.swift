import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite(
    "Limits on memory", .waitsForPrograms,
    .enabled(if: ExternalProgram.locate("python3") != nil, "python3 makes the file"))
struct MemoryLimitTests {
    /// Prints what is said under limits on memory, from the lowest one with which the program works down to 2 MiB less.
    private static let script = """
        set -u
        python3 -c '
        import zipfile
        rows = "username,username2,username3,title,password,note,url,category,otpUrl\\n"
        rows += "".join(f"u{i},,,t{i},p{i},,https://h{i}.example/,,\\n" for i in range(300))
        with zipfile.ZipFile("a.zip", "w", zipfile.ZIP_DEFLATED) as file: file.writestr("credentials.csv", rows)
        '
        try() { (ulimit -v $1; exec "$program" import a.zip --dry-run -q > /dev/null 2> said); }
        low=10000; high=8000000
        try $high || { cat said; exit 2; }
        while [ $((high - low)) -gt 64 ]; do
          middle=$(((low + high) / 2))
          if try $middle; then high=$middle; else low=$middle; fi
        done 2> /dev/null
        for step in $(seq 32); do try $((high - 64 * step)); cat said; done 2> /dev/null
        """

    @Test("A zip file that is whole is not called damaged where there is no memory to read it")
    func zip() throws {
        let folder = try TemporaryFolder()
        let environment = [
            "HOME": folder.path, "PATH": "/usr/bin:/bin", "program": try ExternalProgram.built("kcbackup"),
            "SWIFT_BACKTRACE": "enable=no",
        ]
        let outcome = try ExternalProgram.run(
            "bash", ["-c", Self.script], environment: environment, in: folder.path)
        #expect(outcome.status != 2, "\(outcome.text)\(outcome.errorText)")
        #expect(!outcome.text.contains("damaged"), "\(outcome.text)")
    }
}
