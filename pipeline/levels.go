package pipeline

// levels learns how loud this caller speaks, in dBFS, from committed turns: the level
// that a quarter of their speech exceeds. It is the speech itself; a mean would be
// drawn down by the pauses in it, and whoever talks behind the caller would come near
// it. What is 12 dB quieter is somebody else.
//
// Before the first turn the caller's level is not known, and a quiet caller, or a quiet
// line, lies 10 dB below the usual. Then a frame must stand out from the background,
// which is the median of all that was heard: the people in a room go on all the time.
type levels struct {
	caller float32     // 0: not known yet
	turn   levelCounts // of the speech of the turn in progress
	all    levelCounts // of everything that was heard, until the caller is known
}

// levelCounts counts frames by whole dB below 0.
type levelCounts struct {
	by [levelsDown]uint16
	n  int
}

const (
	firstLoud  = -30 // dBFS: loud before the caller's level is known, whatever the background
	firstQuiet = -48 // and this is not, in any silence
	firstAbove = 8   // dB above the background, between the two
	loudWithin = 12  // dB below the caller's level
	levelsDown = 102
)

// hear takes the level of a frame, speech or not.
func (l *levels) hear(level float32) {
	if l.caller == 0 {
		l.all.add(level)
	}
}

func (l *levels) loud(level float32) bool {
	if l.caller == 0 {
		return level >= min(firstLoud, max(firstQuiet, l.all.exceeded(2)+firstAbove))
	}
	return level >= l.caller-loudWithin
}

// speech takes the level of a frame of speech of the turn in progress.
func (l *levels) speech(level float32) { l.turn.add(level) }

// commit takes the turn as evidence; drop forgets it.
func (l *levels) commit() {
	if l.turn.n > 0 {
		level := l.turn.exceeded(4)
		if l.caller == 0 {
			l.caller = level
		} else {
			l.caller += (level - l.caller) / 4
		}
	}
	l.drop()
}

func (l *levels) drop() { l.turn = levelCounts{} }

// add counts a frame. Beyond 20 minutes of one level no more are counted.
func (c *levelCounts) add(level float32) {
	i := max(0, min(levelsDown-1, int(-level)))
	if c.by[i] < 1<<16-1 {
		c.by[i]++
		c.n++
	}
}

// exceeded is the level that one of so many frames exceeds.
func (c *levelCounts) exceeded(share int) float32 {
	above := 0
	for i, n := range c.by {
		if above += int(n); share*above >= c.n {
			return float32(-i)
		}
	}
	return 1 - levelsDown
}
