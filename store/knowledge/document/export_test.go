package document

// Raced says that the race detector watches, under which unpacking a hundred megabytes takes a minute.
const Raced = maxMemory == 0
