"""The layers' faster ways on a CPU: attention summed as bags, its gradients worked out by hand."""
