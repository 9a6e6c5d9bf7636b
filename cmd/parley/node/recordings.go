package node

import (
	"cmp"
	"path/filepath"

	"parley/api/recording"
	"parley/store"
	"parley/store/blob"
)

// prepareRecordings prepares the recordings of calls. The queue is not open yet.
func (n *Node) prepareRecordings(life store.Node) {
	n.records = recording.New(recording.Config{
		Store: n.db, Queue: n.jobs, Node: life.ID, Log: n.log,
		Files:   blob.NewFolder(func() string { return cmp.Or(n.cfg.RecordingsDir, filepath.Join(n.DataDir, "recordings")) }),
		Raw:     func() string { return filepath.Join(n.DataDir, "recordings-raw") },
		Count:   func(outcome string) { n.metrics.Recordings.WithLabelValues(outcome).Inc() },
		Dropped: func(frames uint64) { n.metrics.Silenced.Add(float64(frames)) },
	})
}
