import Foundation
import KCTerminal
import KCTestSupport
import Testing

/// Makes archives that are valid except for one change, signed with a key of the forger, as anyone can who knows a
/// public key.
struct RecoveryForger {
    let folder: TemporaryFolder

    /// Lines of bash that run at certain points, with the members as files in the working folder and the decrypted
    /// streams in the files `metadata` and `secrets`.
    struct Change: Sendable {
        /// Before the hashes are set.
        var lines = ":"
        /// Before the checksums are made; `members` lists the files that they cover.
        var members = ":"
        /// At the very end; `options` is passed to tar.
        var container = ":"
    }

    /// Forges `archive`, which `key` opens, into a new file.
    func forge(_ archive: String, key: String, recipient: String, _ change: Change) throws -> String {
        let script = """
            set -euo pipefail
            umask 077
            mkdir parts
            cd parts
            tar -xf "$ARCHIVE"
            for stream in metadata secrets; do
              age -d -i "$KEY" $stream.jsonl.gz.age | gzip -dc > $stream
            done
            ssh-keygen -q -t ed25519 -N '' -f ../forger
            public=$(cut -d ' ' -f 2 ../forger.pub | base64 -d | tail -c 32 | sha256sum | cut -c 1-64 | tr a-f A-F)
            device=$(printf %s "$public" | basenc --base16 -d | base32 -w 0 | cut -c 1-20 | sed 's/..../-&/g; s/^/KC/')
            sed -i 's/"device":"[^"]*"/"device":"'$device'"/' kcbackup.json
            header=
            \(change.lines)
            hash() { sha256sum | cut -c 1-64; }
            header=${header:-$(hash < kcbackup.json)}
            sed -i '$s/"header":"[^"]*"/"header":"'$header'"/' metadata secrets
            sed -i '$s/"metadata":"[^"]*"/"metadata":"'$(head -n -1 metadata | hash)'"/' secrets
            sed -i '$s/"secrets":"[^"]*"/"secrets":"'$(hash < secrets)'"/' metadata
            for stream in metadata secrets; do
              gzip -nc $stream | age -r "$RECIPIENT" > $stream.jsonl.gz.age
            done
            members="kcbackup.json $(ls identity.age || true) metadata.jsonl.gz.age secrets.jsonl.gz.age"
            \(change.members)
            sha256sum $members > SHA256SUMS
            rm SHA256SUMS.sig
            ssh-keygen -q -Y sign -n kcbackup -f ../forger SHA256SUMS
            members="$members SHA256SUMS SHA256SUMS.sig"
            options=
            \(change.container)
            tar --format=ustar --mode=600 $options -cf ../forged.kcb $members
            """
        let environment = [
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "", "ARCHIVE": archive, "KEY": key,
            "RECIPIENT": recipient,
        ]
        let outcome = try ExternalProgram.run("bash", ["-c", script], environment: environment, in: folder.path)
        try #require(outcome.status == 0, "\(outcome.errorText)")
        return folder.path("forged.kcb")
    }
}
