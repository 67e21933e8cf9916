import Foundation

/// The variables by which `make proof` asks for more than a sample.
package enum Environment {
    /// True if a variable has a value.
    package static func has(_ name: String, _ value: String) -> Bool {
        ProcessInfo.processInfo.environment[name] == value
    }
}
