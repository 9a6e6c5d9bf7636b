package document

import "time"

// SetPatience bounds children to d until the function that it returns is called.
func SetPatience(d time.Duration) (restore func()) {
	before := patience
	patience = d
	return func() { patience = before }
}

// Raced says that the race detector watches, under which unpacking a hundred megabytes takes a minute.
const Raced = maxMemory == 0
