internal import CKCFIDO2
internal import Glibc
internal import Synchronization

/// The carrier of reports to a token and back (CTAP 2.1, section 11.2) in place of the kernel; for tests.
package protocol TokenTransport: AnyObject, Sendable {
    /// Takes a report of 64 bytes; false if the token is gone.
    func send(_ report: [UInt8]) -> Bool

    /// The next report, of 64 bytes; nil if none comes in this time.
    func receive(milliseconds: Int) -> [UInt8]?
}

/// The calls by which libfido2 reaches a `TokenTransport`.
enum TokenTransports {
    private final class Handle {
        let transport: any TokenTransport
        init(_ transport: any TokenTransport) { self.transport = transport }
    }

    private static let numbered = Mutex<(next: Int, transports: [Int: any TokenTransport])>((0, [:]))

    /// Calls `body` with a path under which libfido2 can open `transport` meanwhile.
    static func with(
        _ transport: any TokenTransport, _ body: (_ path: String) throws(TokenFailure) -> Void
    ) throws(TokenFailure) {
        let number = numbered.withLock { state in
            state.next += 1
            state.transports[state.next] = transport
            return state.next
        }
        defer { _ = numbered.withLock { $0.transports.removeValue(forKey: number) } }
        try body(String(number))
    }

    /// The calls.
    static func functions() -> fido_dev_io_t {
        unsafe fido_dev_io_t(
            open: { name in
                guard let number = unsafe name.flatMap({ unsafe Int(String(cString: $0)) }),
                    let transport = TokenTransports.numbered.withLock({ $0.transports[number] })
                else { return nil }
                return unsafe Unmanaged.passRetained(Handle(transport)).toOpaque()
            },
            close: { handle in
                if let handle = unsafe handle { unsafe Unmanaged<Handle>.fromOpaque(handle).release() }
            },
            read: { handle, bytes, count, milliseconds in
                guard let handle = unsafe handle, let bytes = unsafe bytes else { return -1 }
                let transport = unsafe Unmanaged<Handle>.fromOpaque(handle).takeUnretainedValue().transport
                guard let report = transport.receive(milliseconds: Int(milliseconds)), report.count == count else {
                    return -1
                }
                for (index, byte) in report.enumerated() { unsafe bytes[index] = byte }
                return Int32(report.count)
            },
            write: { handle, bytes, count in
                guard let handle = unsafe handle, let bytes = unsafe bytes else { return -1 }
                let transport = unsafe Unmanaged<Handle>.fromOpaque(handle).takeUnretainedValue().transport
                // The first byte is the number of the report, which is always 0.
                let report = unsafe Array(UnsafeBufferPointer(start: bytes, count: count).dropFirst())
                return transport.send(report) ? Int32(count) : -1
            })
    }
}
