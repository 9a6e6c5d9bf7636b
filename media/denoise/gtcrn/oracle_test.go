package gtcrn_test

import (
	"context"
	"encoding/binary"
	"math"
	"os"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"parley/media/denoise/gtcrn"
)

// oracle is the published module, run.
type oracle struct {
	t              testing.TB
	memory         api.Memory
	process        api.Function
	state, in, out uint64
}

// newOracle gives the module what it imports, a: a failed assertion, and growth of the memory to a number of bytes.
// It exports its memory c, constructors d, a state e, an allocator k, and i, which takes
// a state and the addresses of 256 samples in and out.
func newOracle(t testing.TB) *oracle {
	t.Helper()
	file, err := os.ReadFile("vendor/gtcrn.wasm")
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	runtime := wazero.NewRuntime(ctx)
	t.Cleanup(func() { runtime.Close(ctx) })
	_, err = runtime.NewHostModuleBuilder("a").
		NewFunctionBuilder().WithFunc(func(_, _, _, _ uint32) { panic("an assertion failed") }).Export("a").
		NewFunctionBuilder().WithFunc(func(_ context.Context, m api.Module, size uint32) uint32 {
		if _, ok := m.Memory().Grow((size - m.Memory().Size() + 65535) / 65536); !ok {
			return 0
		}
		return 1
	}).Export("b").Instantiate(ctx)
	if err != nil {
		t.Fatal(err)
	}
	module, err := runtime.Instantiate(ctx, file)
	if err != nil {
		t.Fatal(err)
	}
	o := &oracle{t: t, memory: module.ExportedMemory("c"), process: module.ExportedFunction("i")}
	o.call(module.ExportedFunction("d"))
	o.state = o.call(module.ExportedFunction("e"))
	o.in, o.out = o.call(module.ExportedFunction("k"), 4*gtcrn.Hop), o.call(module.ExportedFunction("k"), 4*gtcrn.Hop)
	return o
}

func (o *oracle) call(f api.Function, args ...uint64) uint64 {
	o.t.Helper()
	results, err := f.Call(context.Background(), args...)
	if err != nil {
		o.t.Fatal(err)
	}
	return append(results, 0)[0]
}

// Process is that of a stream.
func (o *oracle) Process(out, in []float32) {
	o.t.Helper()
	bytes, ok := o.memory.Read(uint32(o.in), 4*gtcrn.Hop)
	if !ok {
		o.t.Fatal("no memory")
	}
	for i, v := range in {
		binary.LittleEndian.PutUint32(bytes[4*i:], math.Float32bits(v))
	}
	o.call(o.process, o.state, o.in, o.out)
	bytes, _ = o.memory.Read(uint32(o.out), 4*gtcrn.Hop)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(bytes[4*i:]))
	}
}
