import Foundation
import KCTerminal
import KCTestSupport
import Testing

/// `rclone` in a home: a script whose remotes `nas` and `bucket`, which has times of a server, are the folder `remote`.
struct FakeRclone {
    let home: TestHome
    /// The environment of a run that finds it.
    let environment: [String: String]

    /// - Parameter remote: the folder that the remotes are, if not one of this home.
    init(_ home: TestHome, remote: String? = nil) throws {
        self.home = home
        environment = ["PATH": "\(home.path("bin")):/usr/bin:/bin", "TMPDIR": home.path("bin")]
        try home.write(
            "bin/rclone", Self.script.replacing("REMOTE_FOLDER", with: remote ?? home.path("remote")), mode: 0o700)
        // Another test may just be starting a program, and until it runs, it has the script open for writing.
        while try !Self.starts(home.path("bin/rclone")) {}
    }

    private static func starts(_ path: String) throws -> Bool {
        do {
            return try ExternalProgram.run(path, ["none"]).status == 0
        } catch let error as POSIXError where error.code == .ETXTBSY {
            return false
        }
    }

    /// Makes the remote refuse these verbs.
    func refuse(_ verbs: String) throws { try home.write("bin/rclone.refused", verbs) }

    /// The verbs of all calls so far.
    func calls() throws -> [String] {
        String(decoding: try home.folder.read("work/bin/rclone.calls"), as: UTF8.self).split(separator: "\n").map(
            String.init)
    }

    /// As version 1.60 answers the calls of this program; operands are the last words.
    private static let script = #"""
        #!/bin/sh
        verb=$1
        for word; do before=$last; last=$word; done
        local_of() { case $1 in nas:*|bucket:*) printf '%s' "REMOTE_FOLDER/${1#*:}";; *) echo "didn't find section in config file" >&2; exit 1;; esac; }
        [ "$verb" != none ] || exit 0
        echo "$verb" >>"$0.calls"
        case " $(cat "$0.refused" 2>/dev/null) " in *" $verb "*) echo 'AccessDenied: status code: 403' >&2; exit 1;; esac
        case $verb in
        config)
            case $last in
            nas) printf '[nas]\ntype = webdav\n';;
            bucket) printf '[bucket]\ntype = s3\n';;
            *) exit 1;;
            esac;;
        lsf)
            case $last in
            /*) folder=$last;;
            *) folder=$(local_of "$last") || exit;;
            esac
            [ -d "$folder" ] || { echo 'directory not found' >&2; exit 3; }
            case " $* " in
            *' tsp '*) find "$folder" -type f -printf '%TY-%Tm-%Td %TH:%TM:%.2TS,%s,"%P"\n'; exit;;
            *' --recursive '*) find "$folder" -type f -printf '%s,%P\n'; exit;;
            *' hp '*)
                for file in "$folder"/*; do
                    case $last:$* in
                    nas:*) hash=UNSUPPORTED;;
                    *'--hash MD5'*) hash=$(md5sum <"$file"); hash=${hash%% *};;
                    *) hash=;;
                    esac
                    [ ! -f "$file" ] || printf '%s,"%s"\n' "$hash" "${file##*/}"
                done
                exit;;
            esac
            for file in "$folder"/*; do
                [ ! -f "$file" ] || printf '%s,"%s"\n' "$(stat -c %s "$file")" "${file##*/}"
            done;;
        copy)
            if [ "$2" = --include ]; then
                folder=$(local_of "$last") || exit
                mkdir -p "$folder"
                taken=0
                for word; do
                    if [ "$flag" = --include ]; then cp -n "$before$word" "$folder$word" || taken=1; fi
                    flag=$word
                done
                [ $taken = 0 ] || { echo PreconditionFailed >&2; exit 1; }
                exit
            fi
            folder=$(local_of "$before") || exit
            [ "$2" = --files-from-raw ] || exit 2
            missing=0
            while IFS= read -r name; do
                [ -f "$folder/$name" ] || { missing=1; continue; }
                mkdir -p "$last/${name%/*}"
                cp "$folder/$name" "$last/$name"
            done <"$3"
            exit $missing;;
        hashsum)
            folder=$(local_of "$last") || exit
            for word; do
                if [ "$flag" = --include ] && [ -f "$folder$word" ]; then
                    hash=$(sha256sum <"$folder$word")
                    printf '%s  %s\n' "${hash%% *}" "${word#/}"
                fi
                flag=$word
            done;;
        cat) cat "$(local_of "$last")";;
        copyto) file=$(local_of "$last"); mkdir -p "${file%/*}"; cp "$before" "$file";;
        moveto) mv "$(local_of "$before")" "$(local_of "$last")";;
        deletefile) rm "$(local_of "$last")";;
        *) exit 2;;
        esac
        """#
}
