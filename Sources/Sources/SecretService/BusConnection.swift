internal import ByteStreams
internal import CLibSecret

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
struct BusError: Error {
    /// The name of the D-Bus error; empty for an error on this side.
    let name: String
    /// The message from the other side; foreign text.
    let message: String
}

/// A connection to a bus, on which many calls can be in progress at once.
///
/// It must be used by a single thread. An interruption of the process ends every wait.
@safe final class BusConnection {
    /// The connection as a C pointer.
    let raw: OpaquePointer
    private let context: OpaquePointer
    private let clock: OpaquePointer
    private static var g: csecret_functions { unsafe LibSecret.functions.pointee }

    // Milliseconds.
    private static let timeLimit: Int32 = 60_000
    private static let clockPeriod: UInt32 = 100

    /// Connects to a bus.
    ///
    /// - Throws: `libraryMissing`, `busRefuses`.
    init(_ bus: SessionBus) throws(SecretServiceFailure) {
        try LibSecret.load()
        let g = unsafe Self.g
        var error: UnsafeMutablePointer<GError>?
        // Flags: 1 to authenticate as a client, 8 to connect to a message bus.
        guard let connection = unsafe g.g_dbus_connection_new_for_address_sync(bus.address, 1 | 8, nil, nil, &error)
        else {
            throw .busRefuses(address: bus.address, reason: unsafe Self.take(error).message)
        }
        guard let context = unsafe g.g_main_context_new(),
            // It wakes the loop, which then checks whether a signal has arrived.
            let clock = unsafe g.g_timeout_source_new(Self.clockPeriod)
        else { preconditionFailure("GLib makes a value, or ends the process") }
        unsafe raw = unsafe connection
        unsafe self.context = unsafe context
        unsafe self.clock = unsafe clock
        unsafe g.g_source_set_callback(clock, { _ in 1 }, nil, nil)
        _ = unsafe g.g_source_attach(clock, context)
    }

    deinit {
        let g = unsafe Self.g
        _ = unsafe g.g_dbus_connection_close_sync(raw, nil, nil)
        unsafe g.g_source_destroy(clock)
        unsafe g.g_source_unref(clock)
        unsafe g.g_object_unref(UnsafeMutableRawPointer(raw))
        unsafe g.g_main_context_unref(context)
    }

    /// Converts an error and frees it.
    static func take(_ error: UnsafeMutablePointer<GError>?) -> BusError {
        guard let error = unsafe error else { return BusError(name: "", message: "no reason was given") }
        defer { unsafe g.g_error_free(error) }
        let name = unsafe g.g_dbus_error_get_remote_error(error)
        defer { unsafe g.g_free(name) }
        _ = unsafe g.g_dbus_error_strip_remote_error(error)
        return BusError(
            name: unsafe name.map { unsafe String(cString: $0) } ?? "",
            message: unsafe error.pointee.message.map { unsafe String(cString: $0) } ?? "")
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
        unsafe Self.g.g_main_context_push_thread_default(context)
        defer { unsafe Self.g.g_main_context_pop_thread_default(context) }
        do {
            var sent = 0
            while sent < count || batch.underWay > 0 {
                while sent < count, batch.underWay < atOnce {
                    unsafe send(try make(sent), to: destination, as: Slot(batch, sent), cancellable)
                    sent += 1
                }
                try wait()
                for (index, result) in batch.takeResults() { try take(index, result) }
            }
        } catch {
            unsafe Self.g.g_cancellable_cancel(cancellable)
            while batch.underWay > 0 { _ = unsafe Self.g.g_main_context_iteration(context, 1) }
            throw error
        }
    }

    /// Waits until something happens.
    ///
    /// - Throws: `interrupted`.
    private func wait() throws(SecretServiceFailure) {
        _ = unsafe Self.g.g_main_context_iteration(context, 1)
        if Interruption.isRequested { throw .interrupted }
    }

    private func send(_ call: BusCall, to destination: String, as slot: Slot, _ cancellable: OpaquePointer?) {
        slot.batch.underWay += 1
        let data = unsafe Unmanaged.passRetained(slot).toOpaque()
        // Flag 1: if the service is gone, do not start it again, since that would be a different process.
        let flags: UInt32 = 1
        func send(_ arguments: OpaquePointer?) {
            unsafe Self.g.g_dbus_connection_call(
                raw, destination, call.path, call.interface, call.method, arguments, nil, flags, Self.timeLimit,
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
        unsafe Self.g.g_main_context_push_thread_default(context)
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
        unsafe Self.g.g_main_context_pop_thread_default(context)
        defer {
            unsafe Self.g.g_dbus_connection_signal_unsubscribe(raw, subscription)
            unsafe Self.g.g_dbus_connection_signal_unsubscribe(raw, watch)
            withExtendedLifetime(answer) {}
        }
        _ = try call(destination, BusCall(path, interface, "Prompt", [.text("")]))
        while true {
            if let value = answer.value {
                guard value.is(BusValue.Kind("(bv)")), let isDismissed = value[0].flag, let result = value[1].unboxed
                else { throw SecretServiceFailure.malformed(.unlocking) }
                if isDismissed { throw SecretServiceFailure.promptDismissed }
                return result
            }
            let isClosed = unsafe Self.g.g_dbus_connection_is_closed(raw) != 0
            if answer.isGone || isClosed { throw SecretServiceFailure.serviceEnded }
            // On an interruption, the prompt stays open: told to close it, GNOME Keyring 42.1 ends and locks
            // everything.
            try wait()
        }
    }

    /// The answer to a prompt.
    private final class Answer {
        var value: BusValue?
        /// True once the service has ended, so that no answer can come.
        var isGone = false
    }
}
