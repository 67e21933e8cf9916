import Glibc
import KCByteStreams
import KCForeignReader
import KCItemSources
import KCKeychainModel

// A reader whose parser is in the hands of its file: the first word of the file says what it tries. The tests run it.

@_silgen_name("syscall") func systemCall(_ number: Int, _ first: Int, _ second: Int, _ third: Int) -> Int
@_silgen_name("fork") func copyProcess() -> pid_t

#if arch(x86_64)
    let traceCall = 101
#else
    let traceCall = 117
#endif

let parent = getppid()

/// Writes bytes in the place of frames.
func write(_ bytes: [UInt8]) -> Bool { write(1, bytes, bytes.count) == bytes.count }

func frame(_ kind: UInt8, _ content: [UInt8], size: Int? = nil) -> [UInt8] {
    let size = size ?? content.count
    return [kind] + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: size >> $0) } + content
}

/// A text or bytes as a field.
func field(_ bytes: [UInt8]) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: bytes.count >> $0) } + bytes
}

func field(_ number: Int) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * (7 - $0))) } }

/// A name with one text.
func tagged(_ name: String, _ text: String) -> [UInt8] {
    field(Array(name.utf8)) + field(1) + field(Array(text.utf8)) + field(0)
}

/// A report of nothing but these parts.
func report(parts: [UInt8] = field(0), records: [UInt8] = field(0)) -> [UInt8] {
    // Details, parts, what was left out, refused, staying, duplicates, remarks, in the clear, records.
    frame(5, field([]) + parts + field(0) + field(0) + field(0) + field(0) + field(0) + field(0) + records)
}

struct HostileFormat: ForeignFormat {
    var kind = ForeignKind.bitwarden

    func recognises(_ input: ForeignInput) -> Bool { true }

    func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents {
        let text =
            input.file.map { file in file.bytes.withBytes { bytes in (0..<bytes.count).map { bytes[$0] } } } ?? []
        attempt(String(decoding: text, as: UTF8.self))
        return ForeignContents(
            items: try RecordCollector(format: "none", date: .reference).finish(details: "", isPlaintext: false).items,
            kind: "item", isPlaintext: false)
    }

    private func attempt(_ word: String) {
        switch word {
        case "open": _ = open("/etc/passwd", O_RDONLY)
        case "create": _ = open("stolen", O_WRONLY | O_CREAT, 0o600)
        case "connect": _ = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        case "fork": _ = copyProcess()
        case "execute": _ = execv("/bin/true", [strdup("true"), nil])
        case "trace": _ = systemCall(traceCall, 16, Int(parent), 0)
        case "kill": _ = kill(parent, SIGKILL)
        case "crash": fatalError("a parser that crashes")
        case "exit": exit(0)
        case "write": say(write(3, "changed", 7), "written")
        case "memory": fill()
        default: send(word)
        }
    }

    /// Sends what no reader sends, and does not come back.
    private func send(_ word: String) {
        let line = Array(#"{"class":"genp","uuid":"00000000-0000-4000-8000-000000000000","travels":"anywhere"}"#.utf8)
        switch word {
        case "nothing": _ = write([])
        case "other": _ = write(Array("220 mail.example ESMTP\r\n".utf8))
        case "huge": _ = write(frame(2, [], size: 0x7fff_ffff))
        case "half": _ = write(frame(2, Array("half".utf8), size: 1_000))
        case "unknown": _ = write(frame(99, []))
        case "again": _ = write(frame(1, field(Array("csv".utf8))))
        case "item": _ = write(frame(2, field(line)))
        case "items": while write(frame(4, [UInt8](repeating: 0, count: 16))) {}
        case "fields": _ = write(frame(5, field(1 << 40)))
        case "list": _ = write(frame(5, field([]) + field(1 << 40)))
        case "tried": _ = write(frame(9, []))
        case "password": _ = write(frame(8, tagged("file", "keepass")))
        case "keyring": _ = write(frame(11, tagged("labeled", "")))
        case "gpg": _ = write(frame(12, field([]) + field(Int.max) + field(100)))
        case "codes": _ = write(frame(13, field([]) + field(100)))
        case "plugins": _ = write(frame(14, field(0) + field(0)))
        case "interrupted":
            let numbers = field(2) + field(0) + field(0)
            _ = write(
                frame(7, field(Array("stream.interrupted".utf8)) + field(1) + field(Array("reading".utf8)) + numbers))
        case "more": _ = write(report() + frame(2, []))
        case "records":
            // The whole file, and no record that stays.
            _ = write(report(records: field(1) + field(1) + field(0) + field(word.utf8.count) + field(0)))
        case "silent":
            close(1)
            while true { _ = poll(nil, 0, -1) }
        case "parts": _ = write(report(parts: field(1) + field(Array("password".utf8)) + field(5)))
        case "outside": _ = write(frame(12, field(Array("../secret.gpg".utf8)) + field(0) + field(100)))
        case "failure": _ = write(frame(7, field(Array("foreign.no-such-failure".utf8)) + field(0) + field(0)))
        default: return
        }
        exit(0)
    }

    private func say(_ result: Int, _ word: String) {
        if result >= 0 { _ = write(Array(word.utf8)) }
        exit(0)
    }

    private func fill() {
        var blocks: [UnsafeMutableRawPointer] = []
        while let block = malloc(1 << 30) { blocks.append(block) }
        // A parser that ends without memory, as Swift does.
        fatalError("\(blocks.count)")
    }
}

struct HostileCatalogue: ForeignCatalogue {
    func prepare() {}
    func format(of kind: ForeignKind, columns: [ChosenColumn: String]) -> any ForeignFormat { HostileFormat() }
    func format(of input: ForeignInput, as chosen: (any ForeignFormat)?) -> any ForeignFormat {
        HostileFormat(kind: input.file?.name == ".netrc" ? .netrc : .bitwarden)
    }
    func outline(of input: ForeignInput) -> KeyringOutline { KeyringOutline(label: "", itemCount: -1, isOfOO7: false) }
}

exit(ReaderService(HostileCatalogue()).run())
