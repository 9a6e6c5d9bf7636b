package jobs

import "time"

// LookEvery has a queue look for jobs, of which no hint has told, once in each period. Call it before Run.
func (q *Queue) LookEvery(period time.Duration) { q.wakes.every = period }
