#include "textflag.h"

// func product(y, bias, weights, x *float32, n, stride int)
//
// Four groups of eight outputs side by side, so that a multiplication need not wait for the one
// before it. Weights of a group lie stride bytes after those of the group before.
TEXT ·product(SB), NOSPLIT, $0-48
	MOVQ y+0(FP), DI
	MOVQ bias+8(FP), SI
	MOVQ weights+16(FP), R8
	MOVQ x+24(FP), DX
	MOVQ n+32(FP), CX
	MOVQ stride+40(FP), R9
	LEAQ (R8)(R9*1), R10
	LEAQ (R8)(R9*2), R11
	LEAQ (R10)(R9*2), R12
	VMOVUPS (SI), Y0
	VMOVUPS 32(SI), Y1
	VMOVUPS 64(SI), Y2
	VMOVUPS 96(SI), Y3
	XORQ AX, AX

loop:
	VBROADCASTSS (DX), Y4
	VFMADD231PS (R8)(AX*1), Y4, Y0
	VFMADD231PS (R10)(AX*1), Y4, Y1
	VFMADD231PS (R11)(AX*1), Y4, Y2
	VFMADD231PS (R12)(AX*1), Y4, Y3
	ADDQ $4, DX
	ADDQ $32, AX
	DECQ CX
	JNZ  loop

	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	VMOVUPS Y2, 64(DI)
	VMOVUPS Y3, 96(DI)
	VZEROUPPER
	RET
