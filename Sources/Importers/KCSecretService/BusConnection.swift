internal import CKCLibSecret
internal import Glibc

/// A method call to be sent.
struct BusCall {
    let path: String
    let interface: String
    let method: String
    let arguments: BusValue?

    init(_ path: String, _ interface: String, _ method: String, _ arguments: [BusValue] = []) {
        self.path = path
        self.interface = interface
        self.method = method
        self.arguments = arguments.isEmpty ? nil : .tuple(arguments)
    }
}

/// Why a call failed.
enum BusError: Error {
    /// The other side, or the bus, answered with an error; both texts are foreign text.
    case remote(name: String, message: String)
    /// The connection is closed.
    case closed
    /// The reply took too long.
    case timedOut
    /// The reply is not of the type that the method returns.
    case wrongType
    /// Something else failed on this side, in the words of GLib.
    case local(message: String)

    // Codes of GIOErrorEnum.
    private static let ioCodes: [Int32: BusError] = [13: .wrongType, 18: .closed, 24: .timedOut, 44: .closed]

    /// An error of GLib's input and output functions.
    ///
    /// All arguments of calls are valid, so an invalid one is a reply of a type that the method does not return.
    init(io code: Int32, message: String) { self = Self.ioCodes[code] ?? .local(message: message) }

    /// The reason in words; may be foreign text.
    var reason: String {
        switch self {
        case .remote(_, let message), .local(let message): message
        case .closed: "the connection was closed"
        case .timedOut: "no answer came in time"
        case .wrongType: "the answer is of an unknown type"
        }
    }
}

/// A connection to a bus, on which many calls can be in progress at once.
///
/// A connection must be used by a single thread. An interruption of the process ends every wait.
@safe final class BusConnection {
    /// The connection as a C pointer.
    let raw: OpaquePointer
    /// The loop in which all calls are made.
    let loop: BusLoop
    private let limit: BusLimit
    private static var g: csecret_functions { unsafe LibSecret.functions.pointee }

    /// Connects to a bus.
    init(_ bus: SessionBus, limit: BusLimit) throws(SecretServiceFailure) {
        try LibSecret.load()
        loop = BusLoop()
        self.limit = limit
        let connection: OpaquePointer
        do throws(BusLoop.Failure) {
            unsafe connection = try unsafe loop.result(
                within: limit.connecting,
                { cancellable, ready, data in
                    // Flags: 1 to authenticate as a client, 8 to connect to a message bus.
                    unsafe Self.g.g_dbus_connection_new_for_address(bus.address, 1 | 8, nil, cancellable, ready, data)
                }, { _, result, error in unsafe Self.g.g_dbus_connection_new_for_address_finish(result, error) })
        } catch {
            switch error {
            case .failed(let error): throw .busRefuses(address: bus.address, reason: error.reason)
            case .late: throw .busSilent(address: bus.address)
            case .interrupted: throw .interrupted
            }
        }
        unsafe raw = unsafe connection
        // Any other user could receive the secrets of a restore.
        let owner = unsafe csecret_peer(LibSecret.functions, connection)
        if owner == uid_t.max { throw .busElsewhere(address: bus.address) }
        guard owner == geteuid() else { throw .foreignBus(path: bus.address, owner: owner) }
    }

    deinit {
        // Nothing waits for the end, which a bus that does not read can delay for ever.
        unsafe Self.g.g_dbus_connection_close(raw, nil, nil, nil)
        unsafe Self.g.g_object_unref(UnsafeMutableRawPointer(raw))
    }

    /// Converts an error and frees it.
    static func take(_ error: UnsafeMutablePointer<GError>?) -> BusError {
        guard let error = unsafe error else { return .local(message: "no reason was given") }
        defer { unsafe g.g_error_free(error) }
        let name = unsafe g.g_dbus_error_get_remote_error(error)
        defer { unsafe g.g_free(name) }
        _ = unsafe g.g_dbus_error_strip_remote_error(error)
        let message = unsafe error.pointee.message.map { unsafe String(cString: $0) } ?? ""
        if let name = unsafe name { return .remote(name: unsafe String(cString: name), message: message) }
        let domain = unsafe g.g_io_error_quark()
        guard unsafe error.pointee.domain == domain else { return .local(message: message) }
        return BusError(io: unsafe error.pointee.code, message: message)
    }

    /// Calls a method and waits for its result.
    ///
    /// - Throws: `BusError`, `SecretServiceFailure.interrupted`.
    func call(_ destination: String, _ call: BusCall) throws -> BusValue {
        var result: BusValue?
        try self.call(destination, count: 1, { _ in call }, { result = try $1.get() })
        guard let result else { preconditionFailure("a call that ended has a result") }
        return result
    }

    /// Calls methods, with many calls in progress at once.
    ///
    /// - Parameters:
    ///   - atOnce: the number of calls in progress: enough to keep the service busy, few enough for its queue.
    ///   - make: creates a call when its turn has come.
    ///   - take: receives the results in order of arrival.
    /// - Throws: `SecretServiceFailure.interrupted`, and what `make` and `take` throw; no call is in progress then.
    func call(
        _ destination: String, count: Int, atOnce: Int = 256, _ make: (Int) throws -> BusCall,
        _ take: (Int, Result<BusValue, BusError>) throws -> Void
    ) throws {
        let batch = Batch()
        let cancellable = unsafe Self.g.g_cancellable_new()
        defer { unsafe Self.g.g_object_unref(UnsafeMutableRawPointer(cancellable)) }
        loop.enter()
        defer { loop.leave() }
        do {
            var sent = 0
            while sent < count || batch.underWay > 0 {
                while sent < count, batch.underWay < atOnce {
                    unsafe send(try make(sent), to: destination, as: Slot(batch, sent), cancellable)
                    sent += 1
                }
                try loop.wait()
                for (index, result) in batch.takeResults() { try take(index, result) }
            }
        } catch {
            unsafe Self.g.g_cancellable_cancel(cancellable)
            while batch.underWay > 0 { loop.step() }
            throw error
        }
    }

    private func send(_ call: BusCall, to destination: String, as slot: Slot, _ cancellable: OpaquePointer?) {
        slot.batch.underWay += 1
        let data = unsafe Unmanaged.passRetained(slot).toOpaque()
        // Flag 1: if the service is gone, do not start it again, since that would be a different process.
        let flags: UInt32 = 1
        func send(_ arguments: OpaquePointer?) {
            unsafe Self.g.g_dbus_connection_call(
                raw, destination, call.path, call.interface, call.method, arguments, nil, flags,
                limit.replyInMilliseconds,
                cancellable, { source, result, data in unsafe BusConnection.finish(source, result, data) }, data)
        }
        if let arguments = call.arguments {
            unsafe arguments.withRaw { unsafe send($0) }
        } else {
            send(nil)
        }
    }

    private static func finish(_ source: OpaquePointer?, _ result: OpaquePointer?, _ data: UnsafeMutableRawPointer?) {
        guard let data = unsafe data else { return }
        let slot = unsafe Unmanaged<Slot>.fromOpaque(data).takeRetainedValue()
        var error: UnsafeMutablePointer<GError>?
        slot.batch.underWay -= 1
        if let value = unsafe g.g_dbus_connection_call_finish(source, result, &error) {
            unsafe slot.batch.add(slot.index, .success(BusValue(owned: value)))
        } else {
            slot.batch.add(slot.index, .failure(unsafe take(error)))
        }
    }

    /// The calls of one `call(…)`.
    private final class Batch {
        var underWay = 0
        private var results: [(Int, Result<BusValue, BusError>)] = []

        func add(_ index: Int, _ result: Result<BusValue, BusError>) { results.append((index, result)) }

        func takeResults() -> [(Int, Result<BusValue, BusError>)] {
            defer { results.removeAll(keepingCapacity: true) }
            return results
        }
    }

    /// A call in progress.
    private final class Slot {
        let batch: Batch
        let index: Int

        init(_ batch: Batch, _ index: Int) {
            self.batch = batch
            self.index = index
        }
    }
}

extension BusConnection {
    /// Shows a prompt of the service and waits for the answer, however long it takes.
    ///
    /// - Returns: the result that the service sends.
    /// - Throws: `BusError`, `SecretServiceFailure` (`promptDismissed`, `serviceEnded`, `interrupted`, `malformed`).
    func prompt(_ destination: String, _ path: String) throws -> BusValue {
        let answer = Answer()
        let data = unsafe Unmanaged.passUnretained(answer).toOpaque()
        loop.enter()
        let interface = "org.freedesktop.Secret.Prompt"
        // Nothing else reports that the service has ended while a prompt is open.
        let watch = unsafe Self.g.g_dbus_connection_signal_subscribe(
            raw, "org.freedesktop.DBus", "org.freedesktop.DBus", "NameOwnerChanged", "/org/freedesktop/DBus",
            destination, 0,
            { _, _, _, _, _, _, data in
                guard let data = unsafe data else { return }
                // A unique name changes its owner only once, when the owner ends.
                unsafe Unmanaged<Answer>.fromOpaque(data).takeUnretainedValue().isGone = true
            }, data, nil)
        let subscription = unsafe Self.g.g_dbus_connection_signal_subscribe(
            raw, destination, interface, "Completed", path, nil, 0,
            { _, _, _, _, _, parameters, data in
                guard let parameters = unsafe parameters, let data = unsafe data else { return }
                unsafe Unmanaged<Answer>.fromOpaque(data).takeUnretainedValue().value = BusValue(parameters)
            }, data, nil)
        loop.leave()
        defer {
            unsafe Self.g.g_dbus_connection_signal_unsubscribe(raw, subscription)
            unsafe Self.g.g_dbus_connection_signal_unsubscribe(raw, watch)
            withExtendedLifetime(answer) {}
        }
        _ = try call(destination, BusCall(path, interface, "Prompt", [.text("")]))
        while true {
            if let value = answer.value {
                if try value.member(0, \.flag, .unlocking) { throw SecretServiceFailure.promptDismissed }
                return try value.member(1, \.unboxed, .unlocking)
            }
            let isClosed = unsafe Self.g.g_dbus_connection_is_closed(raw) != 0
            if answer.isGone || isClosed { throw SecretServiceFailure.serviceEnded }
            // On an interruption, the prompt stays open: told to close it, GNOME Keyring 42.1 ends and locks
            // everything.
            try loop.wait()
        }
    }

    /// The answer to a prompt.
    private final class Answer {
        var value: BusValue?
        /// True once the service has ended, so that no answer can come.
        var isGone = false
    }
}
