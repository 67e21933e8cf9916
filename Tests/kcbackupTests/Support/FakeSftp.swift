import Foundation
import KCTerminal
import KCTestSupport

/// OpenSSH's sftp in a home: a script for which the host `nas` has its files in the folder `remote`.
struct FakeSftp {
    /// The environment of a run that finds it, and no rclone.
    let environment: [String: String]

    init(_ home: TestHome) throws {
        environment = ["PATH": home.path("ssh"), "TMPDIR": home.path("ssh")]
        try home.write("ssh/sftp", Self.script.replacing("REMOTE_FOLDER", with: home.path("remote")), mode: 0o700)
        // Another test may just be starting a program, and until it runs, it has the script open for writing.
        while try !Self.starts(home.path("ssh/sftp")) {}
    }

    private static func starts(_ path: String) throws -> Bool {
        do {
            return try ExternalProgram.run(path, ["none"]).status == 255
        } catch let error as POSIXError where error.code == .ETXTBSY {
            return false
        }
    }

    private static let script = #"""
        #!/bin/bash
        PATH=/usr/bin:/bin
        for host; do :; done
        [ "$host" = nas ] || { echo "ssh: Could not resolve hostname $host: Name or service not known" >&2; exit 255; }
        cd REMOTE_FOLDER || exit
        fail() { echo "$1" >&2; exit 1; }
        while IFS='"' read -r verb one between two rest; do
            case $verb in
            'cd ') cd "$one" 2>/dev/null || fail 'stat remote: No such file or directory';;
            'ls -lna') find . -maxdepth 1 -type f -printf '-rw-------    ? 0  0  %s Nov 24 15:25 %f\n';;
            'get ') cp "$one" "$two" 2>/dev/null || fail "File \"$one\" not found.";;
            'put -f ') cp "$one" "$two" 2>/dev/null || fail "dest open \"$two\": No such file or directory";;
            'rename -l ') ln "$one" "$two" 2>/dev/null || fail "remote rename \"$one\" to \"$two\": Failure"; rm "$one";;
            'rm ') rm "$one" 2>/dev/null || fail "remote delete $one: No such file or directory";;
            'mkdir ') mkdir "$one" 2>/dev/null || fail "remote mkdir \"$one\": No such file or directory";;
            *) fail 'Invalid command.';;
            esac
        done
        """#
}
