package telephony

import (
	"testing"
	"time"

	"parley/api/wire"
)

// TestBatchProgress counts what is over: a call that lasts is none of it.
func TestBatchProgress(t *testing.T) {
	call, end := "ses_1", time.Now()
	v := &batchView{}
	v.Total = 5
	v.Counts.Sent, v.Counts.Dialing, v.Counts.Failed = 3, 1, 1
	v.BatchDetail.Rows = []wire.BatchRow{{Status: "sent", CallID: &call}, {Status: "sent", CallID: &call}, {Status: "sent", CallID: &call, EndedAt: &end},
		{Status: "dialing", CallID: &call}, {Status: "failed"}}
	if v.Done() != 40 || v.Called() != 1 || v.InProgress() != 3 {
		t.Errorf("%d %% done, %d called, %d in progress", v.Done(), v.Called(), v.InProgress())
	}
	v.BatchDetail.Rows[0].EndedAt, v.BatchDetail.Rows[1].EndedAt = &end, &end
	if v.Done() != 80 || v.Called() != 3 || v.InProgress() != 1 {
		t.Errorf("after two ended: %d %% done, %d called, %d in progress", v.Done(), v.Called(), v.InProgress())
	}
	if v = (&batchView{}); v.Done() != 100 {
		t.Errorf("without rows: %d %% done", v.Done())
	}
}
