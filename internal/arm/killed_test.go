package arm

const victimVariable = "KINST_ARM_VICTIM"

func victim() {}
