import KCTestSupport
import Testing

/// How often the verbs ask the kernel for memory: what each item costs there shows in no count of instructions.
@Suite("Memory for each item", .waitsForPrograms, .traced)
struct MappingTests {
    @Test("No verb maps memory for each item")
    func mappings() throws {
        let shell = try ProgramShell()
        let outcome = try shell(Self.script)
        let counts = outcome.text.split(separator: "\n").map { $0.split(separator: " ") }
        #expect(counts.count == 11, "\(outcome.errorText)")
        for count in counts {
            let few = try #require(Int(count[1]))
            let many = try #require(Int(count[2]))
            #expect(few > 10, "nothing was counted for '\(count[0])'")
            // Collections of items double their memory.
            #expect(many - few < 60, "'\(count[0])' maps memory \(many - few) times more for 500 items than for 20")
        }
    }

    private static let script = #"""
        set -eu
        umask 077
        for n in 20 500; do
          {
            echo name,url,username,password,note
            for ((i = 0; i < n; i++)); do
              echo "Site $i,https://service-$i.example.com/login,user$i@example.com,password-$i,note $i"
            done
          } >$n.csv
          sed 's/,password-/,changed-/' $n.csv >changed.$n.csv
          "$KCBACKUP" keychain create k$n --no-passcode
          "$KCBACKUP" keychain create restored$n --no-passcode
        done 2>messages
        echo 'walnut lantern velvet orbit' >password
        count() {
          local n=$1 name=$2
          shift 2
          $STRACE -f -qq -o log.$name.$n -e trace=mmap "$KCBACKUP" "$@" >output 2>messages || { cat messages >&2; exit 1; }
        }
        for n in 20 500; do
          count $n import import $n.csv --into k$n
          count $n again import $n.csv --into k$n
          count $n create create --keychain k$n --unencrypted $n.kcb
          count $n verify verify $n.kcb
          count $n inspect inspect $n.kcb
          count $n restore restore $n.kcb --keychain restored$n
          count $n list item list --keychain k$n
          count $n cxf export --keychain k$n --to cxf --plaintext -o $n.json
          count $n csv export --keychain k$n --to csv --plaintext -o exported.$n.csv
          count $n kdbx export --keychain k$n --to kdbx --password file:password -o $n.kdbx
          count $n changed import changed.$n.csv --into k$n --on-conflict overwrite
        done
        for name in import again create verify inspect restore list cxf csv kdbx changed; do
          echo $name $(wc -l <log.$name.20) $(wc -l <log.$name.500)
        done
        """#
}
