internal import KCAgeEncryption
internal import KCByteStreams
internal import KCCryptography
internal import KCItemSources
internal import KCSandbox

/// A failure that the other process met and that does not come from a file: its type, and nothing else.
struct UnforeseenFailure: Error, Hashable {
    let type: String
}

extension Tagged {
    /// A failure of the layers below, with the name of its type.
    init(_ error: any Error) {
        let (kind, tagged): (String, Tagged) =
            switch error {
            case let failure as ForeignFailure: ("foreign", Tagged(failure))
            case let failure as UnopenedFile: ("unopened", Tagged(failure))
            case let failure as FileFailure: ("file", Tagged(failure))
            case let failure as StreamFailure: ("stream", Tagged(failure))
            case let failure as AgeFailure: ("age", Tagged(failure))
            case let failure as CryptographyFailure: ("cryptography", Tagged(failure))
            case let failure as SandboxFailure: ("sandbox", Tagged(failure))
            default: ("unforeseen", Tagged("type", [String(describing: type(of: error))]))
            }
        self = Tagged(kind + "." + tagged.name, tagged.texts, tagged.numbers)
    }

    /// The failure of this name; nil for another one, or one without its values.
    var error: (any Error)? {
        guard let dot = name.utf8.firstIndex(of: UInt8(ascii: ".")) else { return nil }
        let rest = Tagged(String(name[name.utf8.index(after: dot)...]), texts, numbers)
        return switch name[..<dot] {
        case "foreign": rest.foreignFailure
        case "unopened": rest.unopenedFile
        case "file": rest.fileFailure
        case "stream": rest.streamFailure
        case "age": rest.ageFailure
        case "cryptography": rest.cryptographyFailure
        case "sandbox": rest.sandboxFailure
        case "unforeseen": rest.text().map { UnforeseenFailure(type: $0) }
        default: nil
        }
    }

    private init(_ failure: UnopenedFile) {
        self =
            switch failure {
            case .noKey: Tagged("no-key")
            case .needsPassphrase: Tagged("needs-passphrase")
            case .damaged: Tagged("damaged")
            case .tooLarge(let limit): Tagged("too-large", [limit])
            }
    }

    private var unopenedFile: UnopenedFile? {
        switch name {
        case "no-key": .noKey
        case "needs-passphrase": .needsPassphrase
        case "damaged": .damaged
        case "too-large": count().map { .tooLarge(limit: $0) }
        default: nil
        }
    }

    /// Only what a reader meets: it changes no file, and trusts none.
    private init(_ failure: FileFailure) {
        self =
            switch failure.problem {
            case .notFound: Tagged("not-found", [failure.path])
            case .notRegular: Tagged("not-regular", [failure.path])
            case .tooLarge(let limit): Tagged("too-large", [failure.path], [Int64(limit)])
            case .system(let code, let doing): Tagged("system", [failure.path, doing], [Int64(code)])
            case .exists, .notFolder, .exposed, .foreignOwner, .sharedFolder, .foreignFolder, .busy, .changed,
                .displaced, .remains, .noSafeNaming:
                Tagged("not-regular", [failure.path])
            }
    }

    private var fileFailure: FileFailure? {
        guard let path = text() else { return nil }
        let problem: FileFailure.Problem? =
            switch name {
            case "not-found": .notFound
            case "not-regular": .notRegular
            case "too-large": count().map { .tooLarge(limit: $0) }
            case "system":
                if let code = code(), let doing = text(1) { .system(code, doing: doing) } else { nil }
            default: nil
            }
        return problem.map { FileFailure(path, $0) }
    }

    private init(_ failure: StreamFailure) {
        let offset = Int64(clamping: failure.offset ?? 0)
        let hasOffset: Int64 = failure.offset == nil ? 0 : 1
        let (name, texts, numbers): (String, [String], [Int64]) =
            switch failure.kind {
            case .truncated: ("truncated", [], [])
            case .malformed(let rule): ("malformed", [rule], [])
            case .authenticationFailed: ("authentication-failed", [], [])
            case .limitExceeded(let what, let found, let allowed):
                ("limit-exceeded", [what], [found.map { Int64(clamping: $0) } ?? -1, Int64(allowed)])
            case .system(let code): ("system", [], [Int64(code)])
            case .library(let what): ("library", [what], [])
            case .libraryMissing(let what): ("library-missing", [what], [])
            case .interrupted: ("interrupted", [], [])
            }
        self = Tagged(name, [failure.stage.rawValue] + texts, [hasOffset, offset] + numbers)
    }

    var streamFailure: StreamFailure? {
        guard let stage = text().flatMap(StreamFailure.Stage.init(rawValue:)), let hasOffset = flag(),
            let offset = count(1)
        else { return nil }
        let kind: StreamFailure.Kind? =
            switch name {
            case "truncated": .truncated
            case "malformed": text(1).map { .malformed($0) }
            case "authentication-failed": .authenticationFailed
            case "limit-exceeded":
                if let what = text(1), let allowed = count(3) {
                    .limitExceeded(what, found: count(2).map { UInt64($0) }, allowed: allowed)
                } else {
                    nil
                }
            case "system": code(2).map { .system($0) }
            case "library": text(1).map { .library($0) }
            case "library-missing": text(1).flatMap { Self.isLibrary($0) ? .libraryMissing($0) : nil }
            // Only the process that is asked to stop knows that.
            default: nil
            }
        return kind.map { StreamFailure(stage, $0, offset: hasOffset ? UInt64(offset) : nil) }
    }

    /// True for a name like `libz.so.1`, of which a message makes the name of a package.
    private static func isLibrary(_ name: String) -> Bool {
        name.exact.hasPrefix("lib") && name.utf8.count < 40 && name.exact.isASCIILettersAndDigits(or: "-_.+")
    }

    private init(_ failure: CryptographyFailure) {
        self =
            switch failure {
            case .authentication: Tagged("authentication")
            case .library(let what): Tagged("library", [what])
            case .libraryMissing(let what): Tagged("library-missing", [what])
            case .outOfMemory(let bytes): Tagged("out-of-memory", [bytes])
            case .randomness: Tagged("randomness")
            case .unsupportedParameters(let what): Tagged("unsupported-parameters", [what])
            // No chip is within reach of a reader.
            case .chip: Tagged("library", ["chip"])
            }
    }

    var cryptographyFailure: CryptographyFailure? {
        switch name {
        case "authentication": .authentication
        case "library": text().map { .library($0) }
        case "library-missing": text().flatMap { Self.isLibrary($0) ? .libraryMissing($0) : nil }
        case "out-of-memory": count().map { .outOfMemory(bytes: $0) }
        case "randomness": .randomness
        case "unsupported-parameters": text().map { .unsupportedParameters($0) }
        default: nil
        }
    }

    private init(_ failure: SandboxFailure) {
        self =
            switch failure {
            case .noLandlock: Tagged("no-landlock")
            case .noSeccomp: Tagged("no-seccomp")
            case .severalThreads: Tagged("several-threads")
            case .writableFile(let descriptor): Tagged("writable-file", [Int(descriptor)])
            case .system(let code, let doing): Tagged("system", [doing], [Int64(code)])
            }
    }

    private var sandboxFailure: SandboxFailure? {
        switch name {
        case "no-landlock": .noLandlock
        case "no-seccomp": .noSeccomp
        case "several-threads": .severalThreads
        case "writable-file": code().map { .writableFile($0) }
        case "system": if let code = code(), let doing = text() { .system(code, doing: doing) } else { nil }
        default: nil
        }
    }
}
