package codegen

import "kinst/internal/dlang/types"

// callEffect calls a subroutine whose value nobody wants.
func (g *generator) callEffect(x *types.CallExpr) {
	g.fail("the subroutine %s( ) is not supported", x.Func.Name)
}

// callScalar calls a subroutine that returns a number.
func (g *generator) callScalar(x *types.CallExpr) reg {
	g.fail("the subroutine %s( ) is not supported", x.Func.Name)
	return noReg
}

// callInto calls a subroutine that returns a string.
func (g *generator) callInto(x *types.CallExpr, to region) {
	g.fail("the subroutine %s( ) is not supported", x.Func.Name)
}
