@testable import KeychainSecurity

/// Shortens a history that shows a difference.
enum ModelShrinker {
    /// The shortest history found and the difference it shows.
    ///
    /// - Parameter tries: The maximum number of histories to run.
    static func shortened(
        _ steps: [NumberedStep], from start: ModelRun.Start, tries: Int = 400
    ) throws -> (steps: [NumberedStep], difference: String)? {
        var tries = tries
        func difference(_ steps: some Sequence<NumberedStep>) throws -> (length: Int, words: String)? {
            tries -= 1
            let run = try ModelRun(start)
            for (index, step) in steps.enumerated() {
                if let words = try run.perform(step).difference { return (index + 1, words) }
            }
            return nil
        }
        // The last few steps usually suffice. Earlier steps are rarely needed.
        var length = 8
        var shown = try difference(steps.suffix(length))
        while shown == nil, length < steps.count {
            length *= 4
            shown = try difference(steps.suffix(length))
        }
        guard var shown else { return nil }
        var best = Array(steps.suffix(length).prefix(shown.length))
        /// Adopts a history if it still shows a difference.
        func isEnough(_ candidate: [NumberedStep]) throws -> Bool {
            guard tries > 0, let found = try difference(candidate) else { return false }
            shown = found
            best = Array(candidate.prefix(found.length))
            return true
        }
        var size = best.count / 2
        while size > 0 {
            var start = 0
            while start < best.count - 1 {
                let end = min(start + size, best.count - 1)
                if try !isEnough(Array(best[..<start] + best[end...])) { start = end }
            }
            size /= 2
        }
        // Next, dictionary entries are removed. A step is tried again as long as it gets shorter.
        var index = 0
        while index < best.count {
            let isShorter = try simpler(best[index].step).contains { simpler in
                var candidate = best
                candidate[index].step = simpler
                return try isEnough(candidate)
            }
            if !isShorter { index += 1 }
        }
        return (best, shown.words)
    }

    /// Variants of the step, each with one of its dictionary entries removed.
    private static func simpler(_ step: PlainStep) -> [PlainStep] {
        guard case .call(let call, let program) = step else { return [] }
        func without(_ path: WritableKeyPath<PlainCall, [String: PlainValue]>) -> [PlainStep] {
            call[keyPath: path].keys.sorted().map { key in
                var shorter = call
                shorter[keyPath: path][key] = nil
                return .call(shorter, program: program)
            }
        }
        return without(\.dictionary) + without(\.changes)
    }
}
