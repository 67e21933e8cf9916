"""A second reader and writer of archives and keychain files, from docs/format.md and docs/keychain-file.md alone."""
