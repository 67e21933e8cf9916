import Foundation
import KCTestSupport
import Testing

/// How many instructions the verbs execute for each item, which no other load of the machine changes.
///
/// What is compared is a run with 2,000 items less one with 200, so that starting the program is not in it. Keys, UUIDs
/// and threads make the counts of two runs differ by less than one percent.
@Suite(
    "Instructions for each item", .waitsForPrograms,
    .enabled(
        if: InstructionCounts.isComparable,
        "the counts are for an optimized build with other versions; UPDATE_COUNTS=1 records those of this machine"))
struct InstructionTests {
    @Test("No verb executes more for an item than was recorded, nor less without being recorded")
    func counts() throws {
        let shell = try ProgramShell()
        let outcome = try shell(Self.script)
        let counts = InstructionCounts.parse(outcome.text)
        #expect(counts.keys.sorted() == ["create", "inspect", "restore", "verify"], "\(outcome.errorText)")
        if InstructionCounts.isUpdate { return try InstructionCounts.record(counts) }
        let recorded = try InstructionCounts.recorded().counts
        #expect(recorded.keys.sorted() == counts.keys.sorted())
        for (verb, count) in counts {
            let before = recorded[verb] ?? 0
            #expect(
                abs(Double(count - before)) <= Double(before) * InstructionCounts.margin,
                """
                '\(verb)' executes \(count / 1_800) instructions for each item, and \(before / 1_800) are recorded; \
                UPDATE_COUNTS=1 records what it executes now
                """)
        }
    }

    /// Prints each verb and its count; two processes at most run at a time.
    private static let script = #"""
        set -eu
        umask 077
        # valgrind 3.19 cannot read what the compiler writes for debuggers.
        mkdir stripped
        strip --strip-debug -o stripped/kcbackup "$KCBACKUP"
        KCBACKUP=$PWD/stripped/kcbackup
        for ((i = 0; i < 2000; i++)); do
          printf '{"class":"genp","attributes":{"acct":"user%d@example.com","svce":"service-%d.example.com",' \
            $i $((i * 7919 % 2000))
          printf '"labl":"Site %d","agrp":"com.example.app%d","icmt":"a comment for item %d","pdmn":"%s"},' \
            $i $((i % 7)) $i $((i % 10 ? 0 : 1))
          printf '"secret":"password-%d-%d"}\n' $i $((i * 2654435761 % 4294967296))
        done | sed 's/"pdmn":"0"/"pdmn":"ak"/; s/"pdmn":"1"/"pdmn":"aku"/' >items.2000
        head -200 items.2000 >items.200
        "$KCBACKUP" keygen -o identity 2>messages
        recipient=$(sed -n 's/^# public key: //p' identity)
        for n in 200 2000; do
          "$KCBACKUP" keychain create source.$n --no-passcode
          "$KCBACKUP" keychain create target.$n --no-passcode
          "$KCBACKUP" import items.$n --into source.$n
          "$KCBACKUP" create --keychain source.$n -r "$recipient" -o $n.kcb
        done 2>messages
        # With a random seed, more keys of a dictionary collide in one run than in another.
        export SWIFT_DETERMINISTIC_HASHING=1
        count() {
          valgrind --tool=callgrind --callgrind-out-file=/dev/null --log-file=log.$1 \
            "$KCBACKUP" "${@:2}" >output.$1 2>messages.$1 || { cat messages.$1 log.$1 >&2; exit 1; }
        }
        create() { count create.$1 create --keychain source.$1 -r "$recipient" -o counted.$1.kcb; }
        verify() { count verify.$1 verify $1.kcb -i identity; }
        inspect() { count inspect.$1 inspect $1.kcb -i identity; }
        restore() { count restore.$1 restore $1.kcb -i identity --keychain target.$1; }
        (create 2000; create 200; inspect 200; verify 200) & first=$!
        (restore 2000; restore 200; inspect 2000; verify 2000) & second=$!
        wait $first
        wait $second
        executed() { sed -n 's/.*Collected *: *\([0-9]*\)$/\1/p' log.$1; }
        for verb in create verify inspect restore; do
          echo "$verb $(($(executed $verb.2000) - $(executed $verb.200)))"
        done
        """#
}

/// The recorded numbers of instructions, and what they depend on.
enum InstructionCounts {
    /// A count may differ from the recorded one by this part of it.
    static let margin = 0.03

    private static let path = "Tests/kcbackupTests/Instructions/counts.txt"

    /// True if the counts are to be recorded instead of compared.
    static var isUpdate: Bool { ProcessInfo.processInfo.environment["UPDATE_COUNTS"] == "1" }

    /// True if this build, on this machine, has to execute what was recorded.
    static var isComparable: Bool {
        #if DEBUG
            return false
        #else
            guard ExternalProgram.locate("valgrind") != nil else { return false }
            do {
                return try isUpdate || recorded().versions == versions()
            } catch {
                return true
            }
        #endif
    }

    /// The compiler, the libraries whose instructions are counted with ours, and what these choose their code by.
    static func versions() throws -> String {
        let script = #"""
            dpkg-query --show --showformat='${Package} ${Version}\n' \
              libarchive13 libc6 libdeflate0 libsqlite3-0 libssl3 valgrind zlib1g
            readelf --string-dump=.comment "$1" | sed -n 's/^ *\[.*\]  *\(.*[Ss]wift.*\)/\1/p' | sort --unique
            echo "$(uname --machine) $(grep --only-matching --max-count=1 --word-regexp avx2 /proc/cpuinfo || true)"
            """#
        return try ExternalProgram.run("bash", ["-c", script, "bash", ExternalProgram.built("kcbackup")]).text
    }

    /// The recorded versions and counts, from a file in which an empty line separates them.
    static func recorded() throws -> (versions: String, counts: [String: Int]) {
        let parts = try Project.text(path).components(separatedBy: "\n\n")
        return (parts[0] + "\n", parse(parts[1]))
    }

    /// Records counts with the versions of this machine.
    static func record(_ counts: [String: Int]) throws {
        let lines = counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)\n" }
        try Data((versions() + "\n" + lines.joined()).utf8).write(to: Project.folder.appending(path: path))
    }

    /// Reads lines of a word and a number.
    static func parse(_ text: String) -> [String: Int] {
        let lines = text.split(separator: "\n").map { $0.split(separator: " ") }
        return Dictionary(
            lines.compactMap { words in words.count == 2 ? Int(words[1]).map { (String(words[0]), $0) } : nil },
            uniquingKeysWith: { first, _ in first })
    }
}
