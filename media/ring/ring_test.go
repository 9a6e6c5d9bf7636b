package ring_test

import (
	"runtime"
	"sync"
	"testing"

	"parley/media/mediatest"
	"parley/media/ring"
)

// What the producer puts, in portions of any size, the consumer finds in order, once.
func TestOrder(t *testing.T) {
	const total = 1 << 16
	r := ring.New[int](64)
	var producer sync.WaitGroup
	producer.Go(func() {
		for n := 0; n < total; {
			k := min(r.Free(), 1+n%50, total-n)
			for i := range k {
				*r.Slot(i) = n + i
			}
			r.Put(k)
			if n += k; k == 0 {
				runtime.Gosched()
			}
		}
	})
	for n := 0; n < total; {
		k := min(r.Len(), 1+n%30)
		for i := range k {
			if got := *r.Peek(i); got != n+i {
				t.Fatalf("found %d where %d was put", got, n+i)
			}
		}
		r.Drop(k)
		if n += k; k == 0 {
			runtime.Gosched()
		}
	}
	producer.Wait()
	if r.Len() != 0 || r.Free() != 64 {
		t.Errorf("%d wait, %d are free", r.Len(), r.Free())
	}
}

// A full ring has no free slot until one is dropped, and slots keep what they own.
func TestFull(t *testing.T) {
	r := ring.New[[]byte](2)
	for i := range 4 {
		if r.Free() == 0 {
			r.Drop(1)
		}
		s := r.Slot(0)
		if (cap(*s) > 0) != (i >= 2) {
			t.Errorf("slot of round %d has room for %d bytes", i, cap(*s))
		}
		*s = append((*s)[:0], byte(i))
		r.Put(1)
	}
	if r.Len() != 2 || r.Free() != 0 || (*r.Peek(0))[0] != 2 || (*r.Peek(1))[0] != 3 {
		t.Errorf("%d wait, %d are free", r.Len(), r.Free())
	}
}

func TestDoesNotAllocate(t *testing.T) {
	r := ring.New[[]byte](4)
	packet := make([]byte, 100)
	put := func() {
		s := r.Slot(0)
		*s = append((*s)[:0], packet...)
		r.Put(1)
		r.Drop(1)
	}
	for range 4 {
		put()
	}
	mediatest.NoAllocs(t, put)
}

func BenchmarkRing(b *testing.B) {
	r := ring.New[int16](1 << 15)
	b.ReportAllocs()
	for b.Loop() {
		for i := range 320 {
			*r.Slot(i) = int16(i)
		}
		r.Put(320)
		sum := 0
		for i := range 320 {
			sum += int(*r.Peek(i))
		}
		r.Drop(320)
	}
}
