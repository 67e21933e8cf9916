import ByteStreams
import Synchronization

@testable import SecurityCommand

/// Hands out bytes, a few a call.
final class ScriptedInput: CommandInput {
    private let rest: Mutex<ArraySlice<UInt8>>

    init(_ text: String) {
        rest = Mutex(Array(text.utf8)[...])
    }

    func read(upTo limit: Int, into bytes: inout SecretBytes) throws(StreamFailure) {
        let piece = rest.withLock { rest in
            let piece = rest.prefix(min(limit, 7))
            rest = rest.dropFirst(piece.count)
            return Array(piece)
        }
        bytes.append(piece.span)
    }
}
