static inline int csqlite_answer(void) { return 1; }
