package pipeline

// levels learns how loud this caller speaks, in dBFS, from committed turns: the level
// that a quarter of their speech exceeds. It is the speech itself; a mean would be
// drawn down by the pauses in it, and whoever talks behind the caller would come near
// it. What is 12 dB quieter is somebody else.
type levels struct {
	caller float32            // 0: not known yet
	counts [levelsDown]uint16 // of the turn in progress, by whole dB below 0
	n      int
}

const (
	firstLoud  = -30 // dBFS, before the caller's level is known
	loudWithin = 12  // dB below it
	levelsDown = 96
)

func (l *levels) loud(level float32) bool {
	if l.caller == 0 {
		return level >= firstLoud
	}
	return level >= l.caller-loudWithin
}

// add takes the level of a frame of speech. A turn longer than 20 minutes counts with
// its beginning.
func (l *levels) add(level float32) {
	i := max(0, min(levelsDown-1, int(-level)))
	if l.counts[i] < 1<<16-1 {
		l.counts[i]++
		l.n++
	}
}

// commit takes the turn as evidence; drop forgets it.
func (l *levels) commit() {
	if l.n > 0 {
		level := l.upper()
		if l.caller == 0 {
			l.caller = level
		} else {
			l.caller += (level - l.caller) / 4
		}
	}
	l.drop()
}

// upper is the level that a quarter of the turn exceeds.
func (l *levels) upper() float32 {
	above := 0
	for i, n := range l.counts {
		if above += int(n); 4*above >= l.n {
			return float32(-i)
		}
	}
	return 1 - levelsDown
}

func (l *levels) drop() { l.counts, l.n = [levelsDown]uint16{}, 0 }
