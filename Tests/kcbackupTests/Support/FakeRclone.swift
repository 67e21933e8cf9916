import KCTestSupport
import Testing

/// `rclone` in a home: a script whose remote `nas` is the folder `remote`.
struct FakeRclone {
    let home: TestHome
    /// The environment of a run that finds it.
    let environment: [String: String]

    init(_ home: TestHome) throws {
        self.home = home
        environment = ["PATH": "\(home.path("bin")):/usr/bin:/bin", "TMPDIR": home.path("bin")]
        try home.write("bin/rclone", Self.script.replacing("REMOTE_FOLDER", with: home.path("remote")), mode: 0o700)
    }

    /// As version 1.60 answers the calls of this program; operands are the last words.
    private static let script = #"""
        #!/bin/sh
        verb=$1
        for word; do before=$last; last=$word; done
        local_of() { case $1 in nas:*) printf '%s' "REMOTE_FOLDER/${1#nas:}";; *) echo "didn't find section in config file" >&2; exit 1;; esac; }
        case $verb in
        config) [ "$last" = nas ] || exit 1; printf '[nas]\ntype = webdav\n';;
        lsf)
            folder=$(local_of "$last") || exit
            [ -d "$folder" ] || { echo 'directory not found' >&2; exit 3; }
            for file in "$folder"/*; do
                [ ! -f "$file" ] || printf '%s\t%s\n' "$(stat -c %s "$file")" "${file##*/}"
            done;;
        cat) cat "$(local_of "$last")";;
        copyto) file=$(local_of "$last"); mkdir -p "${file%/*}"; cp "$before" "$file";;
        moveto) mv "$(local_of "$before")" "$(local_of "$last")";;
        deletefile) rm "$(local_of "$last")";;
        *) exit 2;;
        esac
        """#
}
