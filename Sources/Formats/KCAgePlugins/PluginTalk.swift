internal import Glibc
internal import KCAgeEncryption
internal import KCByteStreams
internal import KCConsole
internal import KCCryptography

/// The connection to a plugin.
protocol PluginConnection: AnyObject {
    /// Sends all of `bytes`.
    func write(_ bytes: borrowing Span<UInt8>) throws(StreamFailure)
    /// Appends what the plugin sends next; nothing once it has ended.
    func read(into output: inout OutputSpan<UInt8>) throws(StreamFailure)
    /// The end of what it has written to standard error.
    var endOfMessages: String { get }
}

extension ChildDialogue: PluginConnection {}

/// A run of a plugin: this program says what is to be done, and then does what the plugin needs for that (C2SP
/// age-plugin, "State machines").
struct PluginTalk: ~Copyable {
    /// The reaction of this program to a message of the plugin.
    enum Answer {
        case ok
        case unsupported
    }

    private let plugin: PluginName
    private let user: any PluginUser
    private let connection: any PluginConnection
    private var reader: PluginMessageReader<ConnectionSource>
    /// True if the plugin wanted an answer from somebody, and there was nobody.
    private(set) var missedUser = false
    /// How often the user was shown or asked something.
    private var questions = 0
    /// The first failure that the plugin reported.
    private var reported: String?

    // In bytes in one run: a thousand stanzas of the largest type in use, or the keys of a hundred thousand files.
    private static let sizeLimit = 16 << 20
    // More than a person would read or answer.
    private static let questionLimit = 100
    init(_ plugin: PluginName, _ connection: any PluginConnection, for user: any PluginUser) {
        self.plugin = plugin
        self.user = user
        self.connection = connection
        reader = PluginMessageReader(ConnectionSource(connection: connection), limitInBytes: Self.sizeLimit)
    }

    /// Sends a message.
    ///
    /// - Parameter secret: as in `PluginMessage.encode`.
    func send(
        _ message: borrowing PluginMessage, secret: borrowing Span<UInt8> = Span()
    ) throws(AgeFailure) {
        var text = SecretBytes(capacity: 1_024)
        message.encode(secret: secret, into: &text)
        do throws(StreamFailure) {
            try text.withBytes { bytes throws(StreamFailure) in try connection.write(bytes) }
        } catch {
            throw failure(of: error)
        }
    }

    /// Sends a message that no plugin knows, so that plugins keep ignoring what they do not know.
    func sendGrease() throws(AgeFailure) {
        let random = try failing(as: AgeFailure.cryptography, RandomBytes.bytes(count: 40))
        let words = (0..<Int(random[0] % 3)).map { String(random[$0 + 1]) }
        let body = SecretBytes(copying: random[8..<8 + Int(random[5] % 32)])
        try send(PluginMessage("grease-" + Hexadecimal.encode(Array(random[1..<5])), words, body: body))
    }

    /// Answers the plugin until it is done.
    ///
    /// - Parameter take: receives each message that is neither for the user nor a failure, with this run.
    /// - Throws: `AgeFailure`: `plugin`, `stream`.
    mutating func answerAll(
        _ take: (borrowing PluginMessage, borrowing PluginTalk) throws(AgeFailure) -> Answer
    ) throws(AgeFailure) {
        while true {
            let message = try next()
            switch Command(rawValue: message.command) {
            case .done:
                guard message.arguments.isEmpty else { throw misbehaved("'done' has arguments") }
                return
            case .error:
                try noteError(message)
                try send(PluginMessage("ok"))
            case .message:
                try countQuestion()
                try send(PluginMessage(user.show(text(message.body), of: plugin) ? "ok" : "fail"))
            case .requestPublic: try answerRequest(message, isSecret: false)
            case .requestSecret: try answerRequest(message, isSecret: true)
            case .confirm: try answerConfirmation(message)
            case nil:
                switch try take(message, self) {
                case .ok: try send(PluginMessage("ok"))
                case .unsupported: try send(PluginMessage("unsupported"))
                }
            }
        }
    }

    /// Throws what kept the plugin from doing what it was asked for, as far as that is known.
    func requireNoFailure() throws(AgeFailure) {
        // A plugin that nobody answered may call that a wrong PIN.
        if missedUser { throw .plugin(plugin, .unattended) }
        if let reported { throw .plugin(plugin, .reported(reported)) }
    }

    /// Returns the failure for a plugin that broke a rule.
    func misbehaved(_ rule: String) -> AgeFailure { .plugin(plugin, .misbehaved(rule)) }

    /// The messages of both kinds of run.
    private enum Command: String {
        case done
        case error
        case message = "msg"
        case requestPublic = "request-public"
        case requestSecret = "request-secret"
        case confirm
    }

    private mutating func next() throws(AgeFailure) -> PluginMessage {
        do throws(PluginMessageFailure) {
            if let message = try reader.next() { return message }
        } catch {
            switch error {
            case .malformed(let rule): throw misbehaved(rule)
            case .tooLong(let limit): throw .plugin(plugin, .tooMuch(limitInBytes: limit))
            case .stream(let error): throw failure(of: error)
            }
        }
        throw ended
    }

    /// The failure of a plugin that ended early, perhaps since nobody answered it.
    private var ended: AgeFailure {
        .plugin(plugin, missedUser ? .unattended : .ended(said: connection.endOfMessages))
    }

    private func failure(of error: StreamFailure) -> AgeFailure {
        switch error.kind {
        case .limitExceeded(_, _, let limit): .plugin(plugin, .tooMuch(limitInBytes: limit))
        case .system(EPIPE): ended
        default: .stream(error)
        }
    }

    private mutating func noteError(_ message: borrowing PluginMessage) throws(AgeFailure) {
        let kinds = ["recipient": 2, "identity": 2, "stanza": 3, "internal": 1]
        guard let kind = message.arguments.first, kinds[kind] == message.arguments.count,
            message.arguments.dropFirst().allSatisfy({ PluginMessage.index($0) != nil })
        else { throw misbehaved("an error is of no known kind") }
        reported = reported ?? text(message.body)
    }

    private mutating func answerRequest(
        _ message: borrowing PluginMessage, isSecret: Bool
    ) throws(AgeFailure) {
        try countQuestion()
        guard message.arguments.isEmpty else { throw misbehaved("a question has arguments") }
        let line: SecretBytes
        do throws(TerminalFailure) {
            guard user.isAttended else { throw TerminalFailure.unavailable }
            line = try user.read(text(message.body), isSecret: isSecret, for: plugin)
        } catch {
            return try refuse(after: error)
        }
        try send(PluginMessage("ok", body: line))
    }

    private mutating func answerConfirmation(_ message: borrowing PluginMessage) throws(AgeFailure) {
        try countQuestion()
        var options: [String] = []
        for argument in message.arguments {
            guard let bytes = Base64.decode(argument, padded: false) else {
                throw misbehaved("an option is not canonical base 64")
            }
            options.append(String(decoding: bytes, as: UTF8.self))
        }
        guard let first = options.first, options.count <= 2 else {
            throw misbehaved("a question has neither one option nor two")
        }
        let isFirst: Bool?
        do throws(TerminalFailure) {
            guard user.isAttended else { throw TerminalFailure.unavailable }
            isFirst = try user.choose(
                text(message.body), first, or: options.dropFirst().first, for: plugin)
        } catch {
            return try refuse(after: error)
        }
        guard let isFirst else { return try send(PluginMessage("fail")) }
        try send(PluginMessage("ok", [isFirst ? "yes" : "no"]))
    }

    private mutating func countQuestion() throws(AgeFailure) {
        questions += 1
        guard questions <= Self.questionLimit else {
            throw misbehaved("it has more than \(Self.questionLimit) messages and questions")
        }
    }

    /// Tells the plugin that there is no answer; what that means is for the plugin to say.
    private mutating func refuse(after failure: TerminalFailure) throws(AgeFailure) {
        switch failure {
        case .interrupted: throw .stream(StreamFailure(.reading, .interrupted))
        case .unavailable: missedUser = true
        case .closed, .lineTooLong: break
        }
        try send(PluginMessage("fail"))
    }

    private func text(_ body: borrowing SecretBytes) -> String {
        String(decoding: body.withBytes { [UInt8](copying: $0) }, as: UTF8.self)
    }
}

/// The output of a plugin, as a source.
private struct ConnectionSource: ByteSource {
    let connection: any PluginConnection

    mutating func read(into output: inout OutputSpan<UInt8>) throws(StreamFailure) {
        try connection.read(into: &output)
    }
}
