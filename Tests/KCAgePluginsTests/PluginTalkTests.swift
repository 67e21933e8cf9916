import KCAgeEncryption
import KCByteStreams
import KCTestSupport
import Testing

@testable import KCAgePlugins

@Suite("What is said to a plugin, and what it may answer")
struct PluginTalkTests {
    private static let identity = ScriptedPlugin.identity()
    private static let recipient = ScriptedPlugin.recipient()

    private func unwrap(
        _ files: [SampleFile], _ plugin: RecordedPlugin, _ user: ScriptedUser = ScriptedUser(answers: [])
    ) throws -> [Bool] {
        let identity = try parsedIdentity(Self.identity, host: NoHost())
        var talk = PluginTalk(identity.plugin, plugin, for: user)
        return try talk.unwrap(files.map(\.header), with: [identity]).map { $0 != nil }
    }

    private func wrap(_ count: Int, recipients: Int = 1, _ script: String) throws -> [WrappedFileKey] {
        let recipient = try #require(PluginRecipient(Self.recipient, host: NoHost()))
        var talk = PluginTalk(recipient.plugin, RecordedPlugin(script), for: ScriptedUser(answers: []))
        let keys = try (0..<count).map { _ in try key() }
        return try talk.wrap(keys, for: [PluginRecipient](repeating: recipient, count: recipients))
    }

    private func key() throws -> FileKey {
        let identity = try X25519Identity.generate()
        let encryptor = try AgeEncryptor(recipients: [identity.recipient], to: MemorySink())
        return encryptor.reader
    }

    @Test("A plugin gets the identity and the stanzas of all files in one run, and gives their keys in any order")
    func unwrapping() throws {
        let files = [try SampleFile(), try SampleFile()]
        let plugin = RecordedPlugin("-> file-key 1\n\(files[1].key)\n-> file-key 0\n\(files[0].key)\n-> done\n\n")
        #expect(try unwrap(files, plugin) == [true, true])
        let told = try plugin.messages()
        #expect(told.first == "add-identity \(Self.identity)")
        #expect(told[1].hasPrefix("recipient-stanza 0 X25519 ") && told[2].hasPrefix("recipient-stanza 1 X25519 "))
        #expect(Array(told[3...]) == ["done", "ok", "ok"])
        #expect(String(decoding: plugin.told, as: UTF8.self).contains("-> grease-"))
        let one = RecordedPlugin("-> file-key 1\n\(files[1].key)\n-> done\n\n")
        #expect(try unwrap(files, one) == [false, true])
        #expect(try unwrap(files, RecordedPlugin("-> done\n\n")) == [false, false])
    }

    @Test("What no client knows is answered, and changes nothing")
    func unknownCommands() throws {
        let file = try SampleFile()
        let plugin = RecordedPlugin(
            "-> grease-1 0\nAAAA\n-> DONE\n\n-> file-key 0\n\(file.key)\n-> labels x\n\n-> done\n\n")
        #expect(try unwrap([file], plugin) == [true])
        #expect(try plugin.messages().suffix(4) == ["unsupported", "unsupported", "ok", "unsupported"])
    }

    @Test(
        "A wrong key, one for another file, and a second one are refused",
        arguments: ["0\nAAAAAAAAAAAAAAAAAAAAAA", "0\nAAAA", "0\n", "1\nKEY", "01\nKEY", "-1\nKEY", "\nKEY", "0 0\nKEY"])
    func wrongKeys(_ answer: String) throws {
        let file = try SampleFile()
        let script = "-> file-key \(answer.replacing("KEY", with: file.key))\n-> done\n\n"
        #expect(
            pluginFailure {
                _ = try unwrap([file], RecordedPlugin(script.replacing("file-key \n", with: "file-key\n")))
            }
            .map(Self.isMisbehaviour) == true)
        let twice = RecordedPlugin("-> file-key 0\n\(file.key)\n-> file-key 0\n\(file.key)\n-> done\n\n")
        #expect(
            pluginFailure { _ = try unwrap([file], twice) } == .misbehaved("it gave the key of a file twice"))
    }

    @Test("Nothing counts that a plugin said before it broke off, broke a rule or sent too much")
    func brokenOff() throws {
        let file = try SampleFile()
        let start = "-> file-key 0\n\(file.key)\n"
        #expect(pluginFailure { _ = try unwrap([file], RecordedPlugin("")) } == .ended(said: "no card\n"))
        #expect(pluginFailure { _ = try unwrap([file], RecordedPlugin(start)) } == .ended(said: "no card\n"))
        for rest in ["-> done x\n\n", "done\n", "-> msg\n", "-> error\n\n", "-> error what\n\n", "-> confirm\n\n"] {
            let failure = pluginFailure { _ = try unwrap([file], RecordedPlugin(start + rest)) }
            #expect(failure.map(Self.isMisbehaviour) == true, "\(rest)")
        }
        let line = RecordedPlugin(start + "-> " + String(repeating: "x", count: 17 << 20))
        #expect(pluginFailure { _ = try unwrap([file], line) } == .tooMuch(limitInBytes: 16 << 20))
        let messages = RecordedPlugin(start + String(repeating: "-> msg\n\n", count: 101))
        #expect(pluginFailure { _ = try unwrap([file], messages) }.map(Self.isMisbehaviour) == true)
    }

    @Test("A failure that a plugin reports counts only if a key is missing")
    func reported() throws {
        let files = [try SampleFile(), try SampleFile()]
        let error = "-> error identity 0\nd3JvbmcgUElO\n"
        let all = "-> file-key 0\n\(files[0].key)\n-> file-key 1\n\(files[1].key)\n"
        #expect(try unwrap(files, RecordedPlugin(error + all + "-> done\n\n")) == [true, true])
        let one = RecordedPlugin(error + "-> file-key 0\n\(files[0].key)\n-> done\n\n")
        #expect(pluginFailure { _ = try unwrap(files, one) } == .reported("wrong PIN"))
    }

    @Test("A user is asked what the plugin asks; without one it gets no answer, and that is the failure")
    func questions() throws {
        let file = try SampleFile()
        let script = """
            -> msg\nSGVsbG8\n-> request-secret\nUElO\n-> request-public\nTmFtZQ\n-> confirm R28 U3RvcA\nT0s\n-> confirm R28
            T0s\n
            """
        let end = "-> file-key 0\n\(file.key)\n-> done\n\n"
        let user = ScriptedUser(answers: ["1234", "ada", "Stop", "Go"])
        let plugin = RecordedPlugin(script + end)
        #expect(try unwrap([file], plugin, user) == [true])
        #expect(
            user.seen == ["scripted: Hello", "secret PIN", "Name", #"OK ["Go", "Stop"]"#, #"OK ["Go"]"#])
        #expect(try plugin.messages().suffix(6) == ["ok", "ok 1234", "ok ada", "ok no", "ok yes", "ok"])

        let nobody = RecordedPlugin(script + "-> done\n\n")
        let failure = pluginFailure { _ = try unwrap([file], nobody, ScriptedUser(answers: nil)) }
        #expect(failure == .unattended)
        #expect(try nobody.messages().suffix(5) == ["fail", "fail", "fail", "fail", "fail"])
        // Who can do without an answer may.
        #expect(try unwrap([file], RecordedPlugin(script + end), ScriptedUser(answers: nil)) == [true])
        // A user who ends the input gives no answer, and one who interrupts ends the run.
        let closed = RecordedPlugin("-> request-secret\nUElO\n-> done\n\n")
        #expect(try unwrap([file], closed) == [false])
        #expect(try closed.messages().last == "fail")
        #expect(throws: AgeFailure.stream(StreamFailure(.reading, .interrupted))) {
            try unwrap([file], RecordedPlugin("-> request-secret\nUElO\n"), ScriptedUser(answers: ["^C"]))
        }
    }

    @Test("A plugin wraps several keys in one run, and its labels are kept")
    func wrapping() throws {
        let one = "-> recipient-stanza 0 x a b\nAAAA\n"
        let two = "-> recipient-stanza 1 y\nAAAA\n"
        let wrapped = try wrap(2, one + "-> labels postquantum z\n\n" + two + one + "-> done\n\n")
        #expect(wrapped.map { $0.stanzas.map(\.type) } == [["x", "x"], ["y"]])
        #expect(wrapped.map(\.labels) == [["postquantum", "z"], ["postquantum", "z"]])
        #expect(wrapped[0].stanzas[0] == Stanza(type: "x", arguments: ["a", "b"], body: [0, 0, 0]))
        #expect(try wrap(1, one + "-> done\n\n")[0].labels == [])
    }

    @Test(
        "A plugin that does not wrap what it was given is refused",
        arguments: [
            "", "-> recipient-stanza 1 x\nAAAA\n", "-> recipient-stanza 0\nAAAA\n", "-> recipient-stanza 0 x\nAAAA\n",
            "-> recipient-stanza 0 scrypt AAAAAAAAAAAAAAAAAAAAAA 10\nAAAA\n", "-> labels a a\n\n",
            "-> labels a\n\n-> labels b\n\n",
            String(repeating: "-> recipient-stanza 0 x\nAAAA\n", count: 1_001),
        ])
    func badWrapping(_ script: String) {
        let failure = pluginFailure { _ = try wrap(1, recipients: 2, script + "-> done\n\n") }
        #expect(failure.map(Self.isMisbehaviour) == true)
    }

    @Test("A failure that a plugin reports when it wraps ends the encryption")
    func failedWrapping() {
        let script = "-> recipient-stanza 0 x\nAAAA\n-> error recipient 0\nbm8\n-> done\n\n"
        #expect(pluginFailure { _ = try wrap(1, script) } == .reported("no"))
    }

    private static func isMisbehaviour(_ failure: PluginFailure) -> Bool {
        if case .misbehaved = failure { true } else { false }
    }
}
