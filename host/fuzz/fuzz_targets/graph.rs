//! No text makes the graph parser, the checker or an expression panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use meniscus_host::graph::{Graph, Network, Types};
use std::sync::{Arc, LazyLock};

static TYPES: LazyLock<Types> = LazyLock::new(|| {
    let mut types = Types::default();
    for node_type in meniscus_host::geometry::types().into_iter().chain(meniscus_host::output::types()) {
        types.add(Arc::new(node_type));
    }
    types
});

fuzz_target!(|text: &str| {
    if let Ok(graph) = Graph::read(text, &[]) {
        if let Ok(network) = Network::bind(&graph, &TYPES) {
            for node in &network.nodes {
                node.params_at(1.5);
            }
        }
    }
});
