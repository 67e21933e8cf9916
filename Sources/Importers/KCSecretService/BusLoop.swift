internal import CKCLibSecret
internal import KCByteStreams

/// How long a bus may take, so that one that is stuck holds nothing up for ever.
struct BusLimit {
    /// The limit for opening a connection, in microseconds.
    let connecting: Int
    /// The limit for opening a session of the service, in microseconds.
    let session: Int
    /// The limit for the reply to a call, in milliseconds.
    let replyInMilliseconds: Int32

    /// For what the user asked for.
    static let asked = BusLimit(connecting: 20_000_000, session: 60_000_000, replyInMilliseconds: 60_000)
    /// For a look whether there is a service, which the user did not ask for.
    static let probe = BusLimit(connecting: 2_000_000, session: 2_000_000, replyInMilliseconds: 2_000)
}

/// Runs asynchronous operations of GLib and waits for them.
///
/// A loop must be used by a single thread. An interruption of the process ends every wait.
@safe final class BusLoop {
    /// A function that receives the result of an operation.
    typealias Ready = @convention(c) (OpaquePointer?, OpaquePointer?, UnsafeMutableRawPointer?) -> Void

    /// Why an operation has no result.
    enum Failure: Error {
        case failed(BusError)
        /// The time limit was reached.
        case late
        case interrupted
    }

    private let context: OpaquePointer
    private let clock: OpaquePointer
    private static var g: csecret_functions { unsafe LibSecret.functions.pointee }
    private static let clockPeriodInMilliseconds: UInt32 = 100

    /// Makes a loop; the library must be loaded.
    init() {
        let g = unsafe Self.g
        guard let context = unsafe g.g_main_context_new(),
            // The clock wakes the loop, which then checks whether a signal has arrived.
            let clock = unsafe g.g_timeout_source_new(Self.clockPeriodInMilliseconds)
        else { preconditionFailure("GLib makes a value, or ends the process") }
        unsafe self.context = unsafe context
        unsafe self.clock = unsafe clock
        unsafe g.g_source_set_callback(clock, { _ in 1 }, nil, nil)
        _ = unsafe g.g_source_attach(clock, context)
    }

    deinit {
        let g = unsafe Self.g
        unsafe g.g_source_destroy(clock)
        unsafe g.g_source_unref(clock)
        unsafe g.g_main_context_unref(context)
    }

    /// Makes operations that start from now on report to this loop, until `leave`.
    func enter() { unsafe Self.g.g_main_context_push_thread_default(context) }

    /// Ends what `enter` began.
    func leave() { unsafe Self.g.g_main_context_pop_thread_default(context) }

    /// Waits until something happens, even if the process is being interrupted.
    func step() { _ = unsafe Self.g.g_main_context_iteration(context, 1) }

    /// Waits until something happens.
    func wait() throws(SecretServiceFailure) {
        step()
        if Interruption.isRequested { throw .interrupted }
    }

    /// Starts an operation, waits for its end, and returns its result.
    ///
    /// - Parameters:
    ///   - limit: the time it may take, in microseconds.
    ///   - start: starts it with a cancellable, a function to call at the end, and that function's last argument.
    ///   - finish: takes the result, or sets the error.
    func result<Value>(
        within limit: Int, _ start: (OpaquePointer?, Ready, UnsafeMutableRawPointer) -> Void,
        _ finish: (OpaquePointer?, OpaquePointer?, UnsafeMutablePointer<UnsafeMutablePointer<GError>?>) -> Value?
    ) throws(Failure) -> Value {
        let g = unsafe Self.g
        let outcome = Outcome()
        let cancellable = unsafe g.g_cancellable_new()
        defer { unsafe g.g_object_unref(UnsafeMutableRawPointer(cancellable)) }
        let end = unsafe g.g_get_monotonic_time() + limit
        enter()
        defer { leave() }
        unsafe start(
            cancellable,
            { source, result, data in
                guard let data = unsafe data else { return }
                let outcome = unsafe Unmanaged<Outcome>.fromOpaque(data).takeRetainedValue()
                unsafe outcome.take(source, result)
            }, Unmanaged.passRetained(outcome).toOpaque())
        while unsafe outcome.result == nil {
            step()
            if unsafe outcome.result != nil { break }
            let isLate = unsafe g.g_get_monotonic_time() > end
            guard Interruption.isRequested || isLate else { continue }
            // GLib ends the operation later; its result is discarded.
            unsafe g.g_cancellable_cancel(cancellable)
            throw Interruption.isRequested ? .interrupted : .late
        }
        var error: UnsafeMutablePointer<GError>?
        guard let value = unsafe finish(outcome.source, outcome.result, &error) else {
            throw .failed(unsafe BusConnection.take(error))
        }
        return value
    }

    /// The end of an operation.
    @safe private final class Outcome {
        private(set) var source: OpaquePointer?
        private(set) var result: OpaquePointer?

        func take(_ source: OpaquePointer?, _ result: OpaquePointer?) {
            unsafe self.source = unsafe source.flatMap { unsafe Self.kept($0) }
            unsafe self.result = unsafe result.flatMap { unsafe Self.kept($0) }
        }

        private static func kept(_ object: OpaquePointer) -> OpaquePointer? {
            unsafe OpaquePointer(LibSecret.functions.pointee.g_object_ref(UnsafeMutableRawPointer(object)))
        }

        deinit {
            let release = unsafe LibSecret.functions.pointee.g_object_unref
            if let source = unsafe source { unsafe release?(UnsafeMutableRawPointer(source)) }
            if let result = unsafe result { unsafe release?(UnsafeMutableRawPointer(result)) }
        }
    }
}
