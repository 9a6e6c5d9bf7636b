package media

import "time"

// underway is more frames than are sent within the longest delay of Until, 600 ms.
const underway = 32

// Playout estimates how much of what was sent in packets the far end has played, when it
// does not report that. The zero Playout is ready; it belongs to one goroutine.
type Playout struct {
	at     [underway]time.Time // when the latest frames were sent
	count  int
	played Time
}

// Add notes a frame that was sent at now.
func (p *Playout) Add(now time.Time) {
	p.at[p.count%underway] = now
	p.count++
}

// Until is how much was played at now by a far end that plays each frame delay after it
// was sent, 600 ms at most. It never decreases.
func (p *Playout) Until(now time.Time, delay time.Duration) Time {
	played := Time(p.count) * FrameTime
	for i := p.count - 1; i >= max(0, p.count-underway); i-- {
		left := p.at[i%underway].Add(delay).Sub(now)
		if left <= 0 {
			break
		}
		played -= FromDuration(min(left, FrameDuration))
	}
	p.played = max(p.played, played)
	return p.played
}
