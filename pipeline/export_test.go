package pipeline

// Raced says that the race detector is on.
const Raced = raced
