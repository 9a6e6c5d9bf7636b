package turn

import "parley/media"

// Waiting for functions (ToolWait). A caller who waits hears that they are not forgotten:
// a filler after fillAfter when nothing was said in this turn, else fillEvery after that. One who waits for a transfer, and
// hears what is there for them meanwhile, hears an announcement each Config.Announce. A filler is no reply: a caller who speaks over it
// interrupts nothing.

const (
	fillAfter = 900 * media.Millisecond
	fillEvery = 6 * media.Second
)

// MaxFillers is how many fillers a turn has, and Announcement the number of the one that callers hear who wait for a transfer.
const (
	MaxFillers   = 2
	Announcement = MaxFillers
)

// fillers are those of the turn.
type fillers struct {
	Said  int
	Since media.Time // when the turn first waited for a function, or for a transfer that is announced; 0: it has not
	After media.Time // when the agent was last heard in the turn, or a filler began; 0: never
}

// checkFiller fills a wait that has become long, and stops when the caller speaks.
func (s *step) checkFiller(e Event) {
	f := &s.Fillers
	if e.Output == Filling && (s.Phase == UserSpeaking || s.Phase == Pause) {
		s.do(Action{Kind: StopFiller})
	}
	announces := e.Wait == TransferWait && s.cfg.Announce > 0
	if s.Phase != ToolWait || s.Supervised() || e.Wait != FunctionWait && !announces {
		return
	}
	if f.Since == 0 {
		f.Since = s.now
	}
	if announces {
		if s.now >= max(f.Since, f.After)+s.cfg.Announce && s.rests(e) {
			s.do(Action{Kind: SayFiller, N: Announcement})
			f.After = s.now
		}
		return
	}
	due := f.Since + fillAfter
	if f.After != 0 {
		due = f.After + fillEvery
	}
	if s.now >= due && f.Said < MaxFillers && !s.Collects() && s.rests(e) {
		s.do(Action{Kind: SayFiller, N: f.Said})
		f.Said++
		f.After = s.now
	}
}

// rests says that the agent waits for a function, or a transfer, and neither speaks nor is about to.
func (s *step) rests(e Event) bool {
	return s.Phase == ToolWait && !s.Idle.Held && e.Output == Resting
}
