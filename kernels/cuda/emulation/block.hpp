// The threads of a block as fibers of one thread of the machine.
#pragma once

/// The order in which blocks, and the threads of a block between two barriers, have their turn. A kernel without
/// races gives the same bits in either.
enum class Order { ascending, descending };

/// Why a launch went wrong; null when it did not.
using Complaint = const char*;

/// Runs `kernel(arguments)` once for every thread of every block.
Complaint run_grid(unsigned grid, unsigned block, Order order, void (*kernel)(void**), void** arguments);
