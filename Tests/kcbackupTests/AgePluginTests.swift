import Foundation
import KCAgeEncryption
import KCByteStreams
import KCKernelKeyring
import KCTerminal
import KCTestSupport
import Testing

@testable import KCProtectCommand
@testable import kcbackup

@Suite("age-plugin-kcbackup") struct AgePluginTests {
    private let home: TestHome

    init() throws {
        home = try TestHome()
        try home.write("passcode", "orbit lantern velvet\n")
        try home.write("notes", "later\n")
        try #require(home.run("keychain create --passcode file:passcode").status == .ok)
    }

    private func message(_ words: String..., text: String = "") -> [UInt8] {
        var encoded = SecretBytes(capacity: 64)
        PluginMessage(words[0], Array(words.dropFirst()), body: SecretBytes(copying: text.utf8)).encode(into: &encoded)
        return encoded.bytesForTest()
    }

    /// Runs the plugin on what a client sends, and returns the commands that it sends.
    private func talk(_ sent: [[UInt8]], _ machine: String = "identity-v1") throws -> (
        KCTerminal.ExitStatus, [[String]]
    ) {
        var world = home.world()
        let output = CollectedOutput()
        world.output = output
        let status = AgePlugin.run(
            ["--age-plugin=" + machine], MemorySource(copying: sent.flatMap { $0 }), in: world)
        var commands: [[String]] = []
        var messages = PluginMessageReader(MemorySource(copying: output.bytes), limitInBytes: 1 << 20)
        while let message = try messages.next() { commands.append([message.command] + message.arguments) }
        return (status, commands)
    }

    private func identity(_ options: String) throws -> String {
        let text = home.run("protect identity \(options)").text
        return String(try #require(text.firstMatch(of: /AGE-PLUGIN-KCBACKUP-1\w+/)).0)
    }

    /// The stanzas of a file as a client sends them.
    private func stanzas(of name: String) throws -> [[UInt8]] {
        let header = try AgeHeader.read(from: MemorySource(copying: home.folder.read("work/" + name)))
        return header.stanzas.map { stanza in
            var encoded = SecretBytes(capacity: 64)
            PluginMessage("recipient-stanza", of: 0, stanza).encode(into: &encoded)
            return encoded.bytesForTest()
        }
    }

    @Test("A passcode that is typed for age unlocks the keychain for later commands")
    func unlocks() throws {
        try #require(home.run("protect notes --class complete --passcode file:passcode").status == .ok)
        let identity = try identity("--class complete --passcode file:passcode")
        let start = [message("add-identity", identity)] + (try stanzas(of: "notes.age")) + [message("done")]
        let ok = message("ok")
        let wrong = try talk(start + [message("ok", text: "guess"), message("fail"), ok])
        #expect(wrong == (.ok, [["request-secret"], ["request-secret"], ["error", "identity", "0"], ["done"]]))
        let typed = try talk(start + [message("ok", text: "orbit lantern velvet"), ok])
        #expect(typed == (.ok, [["request-secret"], ["file-key", "0"], ["done"]]))
        #expect(try talk(start + [ok]) == (.ok, [["file-key", "0"], ["done"]]))
        #expect(home.run("unprotect notes.age").status == .ok)
    }

    @Test("After five wrong passcodes, nothing is asked")
    func delayed() throws {
        try #require(home.run("protect notes --class complete --passcode file:passcode").status == .ok)
        let identity = try identity("--class complete --passcode file:passcode")
        let start = [message("add-identity", identity)] + (try stanzas(of: "notes.age")) + [message("done")]
        let guesses = Array(repeating: message("ok", text: "guess"), count: 3) + [message("ok")]
        let asked = ["request-secret"]
        let refused = [["error", "identity", "0"], ["done"]]
        #expect(try talk(start + guesses).1 == [asked, asked, asked] + refused)
        #expect(try talk(start + guesses).1 == [asked, asked] + refused)
    }

    @Test("An identity of a keychain that is gone, and of another device, is an error")
    func gone() throws {
        try #require(home.run("protect notes --class none").status == .ok)
        let file = try stanzas(of: "notes.age").filter { String(decoding: $0, as: UTF8.self).contains("X25519") }
        let other = try TestHome()
        try #require(other.run("keychain create --no-passcode").status == .ok)
        for options in ["", "--class complete"] {
            let text = other.run("protect identity \(options)").text
            let identity = String(try #require(text.firstMatch(of: /AGE-PLUGIN-KCBACKUP-1\w+/)).0)
            let said = try talk([message("add-identity", identity)] + file + [message("done"), message("ok")])
            #expect(said == (.ok, [["error", "identity", "0"], ["done"]]))
        }
    }

    @Test("Unknown protocols, words and the end of input are errors", arguments: ["identity-v2", ""])
    func unknown(machine: String) throws {
        #expect(try talk([], machine) == (.usage, []))
        #expect(AgePlugin.run([], MemorySource(copying: []), in: home.world()) == .usage)
        #expect(try talk([], "identity-v1").0 == .damaged)
    }
}

/// Judged by Debian's age, which finds the program by its other name.
@Suite(
    "age with age-plugin-kcbackup", .waitsForPrograms,
    .enabled(if: ExternalProgram.locate("age") != nil, "age is not installed"),
    .enabled(if: KernelKeyring.refusal == nil, "the kernel keeps no keys for this process"))
struct AgePluginProgramTests {
    private static let setUp = """
        mkdir bin && ln -s "${KCBACKUP%/*}/kcbackup-protect" bin/age-plugin-kcbackup && PATH=$PWD/bin:$PATH
        umask 077; echo 'orbit lantern velvet' > passcode; echo 'dear diary' > diary
        "$KCBACKUP" keychain create --passcode file:passcode -q
        "$KCBACKUP" keychain unlock --passcode file:passcode -q
        recipient() { grep -o 'age1[a-z0-9]*' "$1"; }

        """

    private func run(_ script: String) throws -> ExternalProgram.Outcome { try ProgramShell()(Self.setUp + script) }

    @Test("age encrypts to each class without the plugin, and decrypts with it, armored and for several recipients")
    func classes() throws {
        let outcome = try run(
            """
            age-keygen -o other 2>/dev/null
            for class in complete unless-open until-first-unlock none; do
              "$KCBACKUP" protect identity --class $class -o $class 2>/dev/null
              PATH=/usr/bin:/bin age -a -r "$(recipient other)" -r "$(recipient $class)" -o $class.age diary
              age -d -i $class $class.age
              age -e -i $class -o two.age diary && age -d -i $class two.age && "$KCBACKUP" protect status two.age | tail -1 | tr -s ' '
              rm two.age
            done
            """)
        #expect(
            outcome.text == """
                dear diary
                dear diary
                two.age complete login can be opened
                dear diary
                dear diary
                two.age unless-open login can be opened
                dear diary
                dear diary
                two.age until-first-unlock login can be opened
                dear diary
                dear diary
                two.age none - can be opened

                """, "\(outcome.errorText)")
    }

    @Test("age opens what protect has made; locked and on another device, it says why it does not")
    func closed() throws {
        let outcome = try run(
            """
            for class in complete unless-open until-first-unlock none; do
              "$KCBACKUP" protect identity --class $class -o $class 2>/dev/null
              cp diary $class.txt && "$KCBACKUP" protect $class.txt --class $class
              age -d -i $class $class.txt.age
            done
            "$KCBACKUP" keychain lock
            for class in complete unless-open until-first-unlock none; do
              age -d -i $class $class.txt.age 2>/dev/null </dev/null || echo "$class is closed"
            done
            "$KCBACKUP" keychain lock --until-first-unlock
            age -d -i until-first-unlock until-first-unlock.txt.age 2>/dev/null </dev/null || echo closed
            age -d -i none none.txt.age
            mv .local elsewhere && "$KCBACKUP" keychain create --no-passcode
            age -d -i none none.txt.age 2>&1 | grep -c 'of another device'
            age -d -i complete complete.txt.age 2>&1 | grep -c 'not on this device'
            """)
        #expect(
            outcome.text == """
                dear diary
                dear diary
                dear diary
                dear diary
                complete is closed
                unless-open is closed
                dear diary
                dear diary
                closed
                dear diary
                1
                1

                """, "\(outcome.errorText)")
    }

    @Test("A change of the passcode keeps what an identity opens, and what was encrypted to its key before and after")
    func passcodeChange() throws {
        let outcome = try run(
            """
            "$KCBACKUP" protect identity --class complete -o key 2>/dev/null
            age -r "$(recipient key)" -o before.age diary
            echo 'walnut harbour quilt' > new
            "$KCBACKUP" keychain set-passcode --passcode file:passcode --new-passcode file:new
            age -r "$(recipient key)" -o after.age diary
            cp diary protected && "$KCBACKUP" protect protected --class complete
            for file in before.age after.age protected.age; do age -d -i key $file; done
            """)
        #expect(outcome.text == String(repeating: "dear diary\n", count: 3), "\(outcome.errorText)")
    }
}
