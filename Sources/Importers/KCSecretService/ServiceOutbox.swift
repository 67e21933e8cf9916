internal import KCByteStreams

/// Sends writes to a service in order, with many calls in progress at once.
final class ServiceOutbox {
    private let client: SecretServiceClient
    private var calls: [Call] = []
    /// The number of items written or removed.
    private(set) var written = 0
    /// True once something may have changed, although no reply has come.
    private(set) var hasSent = false
    private let mayAsk: Bool
    private let willSend: () throws -> Void
    private var isAnnounced = false
    // Calls that the service carries out only after its prompt is called.
    private var prompts: [(path: String, call: Call)] = []

    private struct Call {
        let call: BusCall
        let request: SecretServiceFailure.Request
        /// The label of the collection that it is about.
        let collection: String
        /// True for the last call of an item.
        let isLast: Bool
    }

    // A service that rewrites its file for each item needs about a second for this many.
    private static let atOnce = 32

    /// - Parameters:
    ///   - mayAsk: true if a user can answer the desktop's prompts.
    ///   - willSend: called once, before anything is sent.
    init(_ client: SecretServiceClient, mayAsk: Bool, willSend: @escaping () throws -> Void) {
        self.client = client
        self.mayAsk = mayAsk
        self.willSend = willSend
    }

    /// Says that something is about to be sent.
    func announce() throws {
        if isAnnounced { return }
        try willSend()
        isAnnounced = true
    }

    /// Makes a collection.
    func make(_ make: () throws -> String) throws -> String {
        // A pending call could fail, and would leave an unneeded collection behind.
        try flush()
        try announce()
        let path = try make()
        hasSent = true
        return path
    }

    private func attributes(of item: ServiceItem) -> [ServiceAttribute] {
        client.kind == .keePassXC ? item.settableInEntry : item.attributes
    }

    /// - Parameters:
    ///   - collection: the object path of the collection.
    ///   - label: its label.
    func create(_ item: ServiceItem, _ secret: borrowing SecretBytes, in collection: String, label: String) throws {
        guard client.isProved else { return try createFirst(item, secret, in: collection) }
        // Not replacing: an item with the same attributes is a different item.
        try send(creation(of: item, secret, in: collection, replaces: false), .writing, in: label)
    }

    private func creation(
        of item: ServiceItem, _ secret: borrowing SecretBytes, in collection: String, replaces: Bool
    ) throws -> BusCall {
        var properties: [(String, BusValue)] = [
            ("\(SecretServiceClient.itemInterface).Label", .text(item.label)),
            ("\(SecretServiceClient.itemInterface).Attributes", .texts(attributes(of: item))),
        ]
        if let type = item.type { properties.append(("\(SecretServiceClient.itemInterface).Type", .text(type))) }
        return BusCall(
            collection, "org.freedesktop.Secret.Collection", "CreateItem",
            [.properties(properties), try encoded(secret, item), .flag(replaces)])
    }

    private func encoded(_ secret: borrowing SecretBytes, _ item: ServiceItem) throws -> BusValue {
        try secret.withBytes { try client.encode($0, contentType: item.contentType) }
    }

    /// Creates an item in KWallet if no other item has shown whether the session key is right.
    private func createFirst(_ item: ServiceItem, _ secret: borrowing SecretBytes, in collection: String) throws {
        var path: String?
        var isAgain = false
        try announce()
        hasSent = true
        for _ in 0..<SecretServiceClient.sessionTries {
            do {
                if let path {
                    let call = BusCall(
                        path, SecretServiceClient.itemInterface, "SetSecret", [try encoded(secret, item)])
                    _ = try client.call(call, .writing)
                } else {
                    // Only an item without a secret, which a wrong key has left, is replaced.
                    let call = try creation(of: item, secret, in: collection, replaces: isAgain)
                    path = try Self.answer(client.call(call, .writing), to: call, .writing).object
                    written += 1
                }
                if let path, try client.provesSession(secret, at: path) { return }
            } catch SecretServiceFailure.request(_, _, let message) where message.exact.contains("find session") {
                // KWallet reports a wrong key this way.
            }
            isAgain = true
            try client.renewSession()
        }
        throw SecretServiceFailure.malformed(.secrets)
    }

    func update(
        _ found: FoundItem, to item: ServiceItem, _ secret: borrowing SecretBytes, hasSecret: Bool, label: String
    ) throws {
        var calls: [BusCall] = []
        if !found.item.label.utf8.elementsEqual(item.label.utf8) {
            calls.append(Self.set("Label", .text(item.label), of: found))
        }
        if attributes(of: found.item) != attributes(of: item) {
            calls.append(Self.set("Attributes", .texts(attributes(of: item)), of: found))
        }
        // Last, so that an item that was updated halfway still has its old secret; see `UnfinishedRestore`.
        if !hasSecret {
            calls.append(
                BusCall(found.path, SecretServiceClient.itemInterface, "SetSecret", [try encoded(secret, item)]))
        }
        for (index, call) in calls.enumerated() {
            try send(call, .writing, in: label, isLast: index == calls.count - 1)
        }
    }

    func delete(_ found: FoundItem, label: String) throws {
        try send(BusCall(found.path, SecretServiceClient.itemInterface, "Delete"), .deleting, in: label)
    }

    private static func set(_ property: String, _ value: BusValue, of found: FoundItem) -> BusCall {
        BusCall(
            found.path, "org.freedesktop.DBus.Properties", "Set",
            [.text(SecretServiceClient.itemInterface), .text(property), .boxed(value)])
    }

    private func send(
        _ call: BusCall, _ request: SecretServiceFailure.Request, in collection: String, isLast: Bool = true
    ) throws {
        calls.append(Call(call: call, request: request, collection: collection, isLast: isLast))
        if calls.count >= Self.atOnce { try flush() }
    }

    /// Sends the remaining calls and waits for all replies.
    func flush() throws {
        let sent = calls
        calls = []
        if !sent.isEmpty {
            try announce()
            hasSent = true
        }
        try client.bus.call(
            client.owner, count: sent.count, atOnce: Self.atOnce, { sent[$0].call },
            { index, result in
                do {
                    try requireDone(result.get(), sent[index])
                } catch let error as BusError {
                    throw SecretServiceFailure(error, sent[index].request, in: sent[index].collection)
                }
            })
        let waiting = prompts
        prompts = []
        for (path, call) in waiting { try complete(path, call) }
    }

    /// Calls a prompt.
    ///
    /// KeePassXC has one for each new item, but asks nothing while its database is open.
    private func complete(_ prompt: String, _ call: Call) throws {
        if !mayAsk {
            guard let collection = try client.collection(call.call.path), !collection.isLocked else {
                throw SecretServiceFailure.locked([call.collection])
            }
        }
        do {
            _ = try client.bus.prompt(client.owner, prompt)
        } catch let error as BusError {
            throw SecretServiceFailure(error, call.request, in: call.collection)
        } catch SecretServiceFailure.promptDismissed where !mayAsk {
            throw SecretServiceFailure.notDone(call.request)
        }
        if call.isLast { written += 1 }
    }

    /// Accepts a reply, or queues its prompt; if no user can answer, a prompt counts as a refusal.
    private func requireDone(_ reply: BusValue, _ call: Call) throws {
        if let prompt = try Self.answer(reply, to: call.call, call.request).prompt {
            if mayAsk || client.kind == .keePassXC && call.call.method == "CreateItem" {
                return prompts.append((prompt, call))
            }
            throw SecretServiceFailure.asksFirst(call.request)
        }
        if call.isLast { written += 1 }
    }

    /// The answer in a reply: the new item, and the prompt without which nothing was done.
    ///
    /// - Throws: `malformed` if it says neither.
    static func answer(
        _ reply: BusValue, to call: BusCall, _ request: SecretServiceFailure.Request
    ) throws(SecretServiceFailure) -> (object: String?, prompt: String?) {
        func path(_ index: Int) throws(SecretServiceFailure) -> String? {
            let path = try reply.member(index, \.path, request)
            return path == "/" ? nil : path
        }
        switch call.method {
        case "CreateItem":
            guard reply.is(BusValue.Kind("(oo)")) else { throw .malformed(request) }
            let (object, prompt) = (try path(0), try path(1))
            if object == nil, prompt == nil { throw .malformed(request) }
            return (object, prompt)
        case "Delete":
            guard reply.is(BusValue.Kind("(o)")) else { throw .malformed(request) }
            return (nil, try path(0))
        default: return (nil, nil)
        }
    }
}
