import Foundation

/// A decoder of foreign bytes, as a fuzzer drives it.
///
/// Whatever the bytes are, `run` returns, or throws an error for which `refuses` is true. Anything else is a defect.
///
/// ```swift
/// FuzzTarget("bech32", ["A12UEL5L"]) { bytes in … }
/// ```
struct FuzzTarget: Sendable, CustomStringConvertible {
    /// The name by which a run chooses it.
    let name: String
    /// Valid inputs to start from.
    let seeds: [[UInt8]]
    private let body: @Sendable ([UInt8]) throws -> Void
    private let refuses: @Sendable (any Error) -> Bool

    /// A broken law of a decoder.
    struct Broken: Error {
        let law: String
    }

    init(
        _ name: String, bytes seeds: [[UInt8]], refusing refuses: @escaping @Sendable (any Error) -> Bool,
        _ body: @escaping @Sendable ([UInt8]) throws -> Void
    ) {
        self.name = name
        self.seeds = seeds
        self.body = body
        self.refuses = refuses
    }

    init(
        _ name: String, _ seeds: [String], refusing refuses: @escaping @Sendable (any Error) -> Bool = { _ in false },
        _ body: @escaping @Sendable ([UInt8]) throws -> Void
    ) {
        self.init(name, bytes: seeds.map { Array($0.utf8) }, refusing: refuses, body)
    }

    var description: String { name }

    /// Decodes `bytes`.
    ///
    /// - Returns: false if they are refused.
    /// - Throws: what the decoder must not throw.
    @discardableResult
    func run(_ bytes: [UInt8]) throws -> Bool {
        do {
            try body(bytes)
            return true
        } catch {
            if !refuses(error) { throw error }
            return false
        }
    }

    /// All targets.
    static let all = own + keys + stores + foreign

    /// Throws unless what a decoder accepted is encoded as it was.
    static func require(_ isTrue: Bool, _ law: String) throws {
        if !isTrue { throw Broken(law: law) }
    }

    /// The content of a file of the tests; empty if it is not there.
    static func file(_ path: String) -> [UInt8] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return FileManager.default.contents(atPath: folder.appending(path: path).path).map { Array($0) } ?? []
    }
}
