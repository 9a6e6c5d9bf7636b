package pipeline

// levels learns how loud this caller speaks, in dBFS, from committed turns. What
// is 12 dB quieter is somebody else.
type levels struct {
	caller float32 // 0: not known yet
	sum    float32 // of the turn in progress
	n      int
}

const (
	firstLoud  = -30 // dBFS, before the caller's level is known
	loudWithin = 12  // dB below it
)

func (l *levels) loud(level float32) bool {
	if l.caller == 0 {
		return level >= firstLoud
	}
	return level >= l.caller-loudWithin
}

func (l *levels) add(level float32) {
	l.sum += level
	l.n++
}

// commit takes the turn's mean as evidence; drop forgets it.
func (l *levels) commit() {
	if l.n > 0 {
		mean := l.sum / float32(l.n)
		if l.caller == 0 {
			l.caller = mean
		} else {
			l.caller += (mean - l.caller) / 4
		}
	}
	l.drop()
}

func (l *levels) drop() { l.sum, l.n = 0, 0 }
