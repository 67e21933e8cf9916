import KCByteStreams
import Synchronization

@testable import KCSecurityCommand

/// Delivers the bytes of a text, a few per call.
final class ScriptedInput: CommandInput {
    private let rest: Mutex<ArraySlice<UInt8>>

    init(_ text: String) {
        rest = Mutex(Array(text.utf8)[...])
    }

    func read(into output: inout OutputSpan<UInt8>) throws(StreamFailure) {
        let room = output.freeCapacity
        let piece = rest.withLock { rest in
            let piece = rest.prefix(min(room, 7))
            rest = rest.dropFirst(piece.count)
            return Array(piece)
        }
        output.append(copying: piece.span)
    }
}
