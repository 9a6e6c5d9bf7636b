package node

import (
	"path/filepath"

	"parley/api/recording"
	"parley/pipeline"
	"parley/pipeline/journal"
	"parley/pipeline/session"
	"parley/store"
)

// prepareRecordings prepares the recordings of calls. The queue is not open yet.
func (n *Node) prepareRecordings(life store.Node) {
	n.records = recording.New(recording.Config{
		Store: n.db, Queue: n.jobs, Node: life.ID, Log: n.log,
		Dir: func() string {
			if n.cfg.RecordingsDir != "" {
				return n.cfg.RecordingsDir
			}
			return filepath.Join(n.DataDir, "recordings")
		},
		Raw:     func() string { return filepath.Join(n.DataDir, "recordings-raw") },
		Count:   func(outcome string) { n.metrics.recorded.WithLabelValues(outcome).Inc() },
		Dropped: func(frames uint64) { n.metrics.silenced.Add(float64(frames)) },
	})
}

// recorder records a conversation whose agent wants that; nil: it does not.
func (n *Node) recorder(session *session.Session, p plan) pipeline.Recorder {
	if r := p.settings.Record; r == nil || !*r {
		return nil
	}
	return n.records.Recorder(session.ID())
}

// journal keeps what a conversation that is recorded can be replayed from; nil: it is not.
func (n *Node) journal(session *session.Session, p plan) journal.Sink {
	if r := p.settings.Record; r == nil || !*r {
		return nil
	}
	r := new(journal.Writer)
	session.Replayed(r.Bytes)
	return r
}
