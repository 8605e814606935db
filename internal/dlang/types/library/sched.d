/* Processors, as DTrace's sched provider has them. */

typedef struct cpuinfo {
	int	cpu_id;
	int	cpu_chip;	/* -1: not known here */
	int	cpu_lgrp;
} cpuinfo_t;

translator cpuinfo_t < int C > {
	cpu_id = C;
	cpu_chip = -1;
	cpu_lgrp = -1;
};
