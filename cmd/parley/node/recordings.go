package node

import (
	"cmp"
	"path/filepath"

	"parley/api/recording"
	"parley/store"
)

// prepareRecordings prepares the recordings of calls. The queue is not open yet.
func (n *Node) prepareRecordings(life store.Node) error {
	files, err := n.cfg.Files("recordings", func() string { return cmp.Or(n.cfg.RecordingsDir, filepath.Join(n.DataDir, "recordings")) })
	if err != nil {
		return err
	}
	n.records = recording.New(recording.Config{
		Store: n.db, Queue: n.jobs, Node: life.ID, Log: n.log,
		Files: files, Shared: n.cfg.Storage != nil,
		Raw:     func() string { return filepath.Join(n.DataDir, "recordings-raw") },
		Count:   func(outcome string) { n.metrics.Recordings.WithLabelValues(outcome).Inc() },
		Dropped: func(frames uint64) { n.metrics.Silenced.Add(float64(frames)) },
	})
	return nil
}
